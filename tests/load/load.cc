// A load generator: so many keep-alive connections, one thread, epoll. Requests are made and signed
// before the clock starts, but for those that depend on replies and for transactions.
//
//   load --port P --connections N --seconds S [--count N] [--rate R] [--account A --key K] WHAT
//
// Without a rate the loop is closed: each connection sends its next request when it has the whole
// reply to the last. With one it is open: requests are due at fixed times, whatever becomes of the
// others, and latencies count from when a request was due, so that a server that stalls is charged
// for all that it kept waiting.
//
//   --get PATH, --head PATH       repeats one request
//   --get-each PREFIX --among N   any of N blobs (--put), files (--files) or entities (--upsert)
//   --put PREFIX --size BYTES     block blobs of their own names, PREFIX/0123456789abcdef
//   --range DIRECTORY --size B    ranges somewhere in the files DIRECTORY/0, /1 ..., which exist
//   --messages PATH --size BYTES  puts messages on the queue QUEUE/messages
//   --consume PATH                takes a message and deletes it, which counts as one
//   --files DIRECTORY             creates empty files of their own names, DIRECTORY/012...
//   --uploads PREFIX --size BYTES files of their own names: made, appended to and flushed, as one
//   --insert TABLE --size BYTES   inserts entities of their own keys
//   --upsert TABLE --size BYTES   transactions of a hundred entities in a partition of their own
//   --create TABLES --name NAME   creates a table
//
// --service table signs as that service wants it; --first N begins distinct names with the Nth.
// Without an account requests are not signed. Prints one line of JSON.
#include "requests.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "chunks.h"
#include "measure.h"
#include "pace.h"

namespace kyanite::load {
namespace {

constexpr size_t kReadBytes = 256 * 1024;
constexpr size_t kChunkLineBytes = 32;  // Enough for what stands between two chunks.
constexpr size_t kMostHead = 16 * 1024;
constexpr auto kLongestWait = std::chrono::seconds(1);

class Connection;

struct Totals {
  explicit Totals(const Options& options) : pace(options.rate), most(options.count) {}

  Pace pace;
  Histogram latencies;
  uint64_t errors = 0;
  std::string first_error;
  const uint64_t most;  // Ends the run, unless 0.
  bool over = false;
  std::vector<Connection*> idle;  // They wait for the next request to be due.

  bool stopped() const { return over || (most > 0 && latencies.total() >= most); }
  void fail(std::string why) {
    if (errors++ == 0) first_error = std::move(why);
  }
};

// One connection: at any time sending a request, receiving its reply, or idle.
class Connection {
 public:
  Connection(int fd, std::unique_ptr<Script> script, Totals& totals, char* scratch)
      : fd_(fd), script_(std::move(script)), totals_(totals), scratch_(scratch) {}
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;

  // False when there is nothing left to do or the connection is of no more use.
  bool begin() {
    if (completed_) {
      if (totals_.stopped()) return false;
      idle_ = !totals_.pace.is_due();
      if (idle_) {
        totals_.idle.push_back(this);
        return true;
      }
    }
    request_ = script_->next(reply_);
    if (!request_) return false;
    if (completed_) began_ = totals_.pace.take();
    completed_ = script_->completes();
    sent_ = 0;
    head_.clear();
    reply_.clear();
    body_left_ = 0;
    in_body_ = false;
    return send_some();
  }

  bool on_event(uint32_t events) {
    // If the server has gone, sending will tell. There may be more connections than requests.
    if (idle_ || request_ == nullptr) return true;
    if ((events & EPOLLOUT) != 0 && sent_ < request_->size() && !send_some()) return false;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) return receive_some();
    return true;
  }

 private:
  bool lost(const char* what) {
    totals_.fail(std::string(what) + ": " + std::strerror(errno));
    return false;
  }

  bool send_some() {
    while (sent_ < request_->size()) {
      iovec parts[2];
      const int count = request_->rest(sent_, parts);
      const ssize_t written = writev(fd_, parts, count);
      if (written < 0) return errno == EAGAIN || lost("send");
      sent_ += static_cast<size_t>(written);
    }
    return true;
  }

  bool receive_some() {
    for (;;) {
      // Bodies are thrown away inside the kernel: what is measured is the server.
      const bool dropped = in_body_ && !script_->wants_replies();
      const size_t unread = !dropped ? 0 : chunked_ ? chunks_.content() : body_left_;
      const size_t wanted = dropped && chunked_ ? kChunkLineBytes : kReadBytes;
      const ssize_t got =
          unread > 0 ? recv(fd_, nullptr, unread, MSG_TRUNC) : recv(fd_, scratch_, wanted, 0);
      if (got == 0) {
        errno = ECONNRESET;
        return lost("receive");
      }
      if (got < 0) return errno == EAGAIN || lost("receive");
      const auto bytes = static_cast<size_t>(got);
      if (!in_body_) {
        if (!take_head({scratch_, bytes})) return false;
      } else if (unread > 0) {
        chunked_ ? chunks_.skip(bytes) : void(body_left_ -= bytes);
      } else if (!take_body({scratch_, bytes})) {
        return false;
      }
      if (in_body_ && (chunked_ ? chunks_.ended() : body_left_ == 0)) {
        if (completed_) totals_.latencies.add(nanoseconds_since(began_));
        return begin();
      }
    }
  }

  // Collects the head; what follows it in `bytes` is body.
  bool take_head(std::string_view bytes) {
    head_.append(bytes);
    const size_t end = head_.find("\r\n\r\n");
    if (end == std::string::npos) {
      if (head_.size() < kMostHead) return true;
      errno = EMSGSIZE;
      return lost("head");
    }
    const std::string_view head(head_.data(), end + 2);
    if (head.size() < 12 || head[9] != '2') {
      totals_.fail("status " + std::string(head.substr(9, 3)));
      return false;
    }
    in_body_ = true;
    chunked_ = is_chunked(head);
    chunks_ = {};
    reply_.clear();
    body_left_ = chunked_ || request_->is_head() ? 0 : content_length(head);
    return take_body(std::string_view(head_).substr(end + 4));
  }

  bool take_body(std::string_view bytes) {
    if (script_->wants_replies()) reply_.append(bytes);
    const bool fits = chunked_ ? chunks_.take(bytes) : bytes.size() <= body_left_;
    if (!fits) {
      errno = EPROTO;
      return lost("more than one reply, or none");
    }
    if (!chunked_) body_left_ -= bytes.size();
    return true;
  }

  const int fd_;
  const std::unique_ptr<Script> script_;
  Totals& totals_;
  char* const scratch_;
  const Request* request_ = nullptr;
  size_t sent_ = 0;
  std::string head_;
  std::string reply_;      // The body, where the script wants it.
  bool completed_ = true;  // What is timed as one ends with the request at hand.
  size_t body_left_ = 0;
  Chunks chunks_;  // Instead, of a body in chunks.
  bool chunked_ = false;
  bool in_body_ = false;
  bool idle_ = false;
  Clock::time_point began_;
};

int connect_to(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int one = 1;
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0 ||
      fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
    std::perror("connect");
    std::exit(EXIT_FAILURE);
  }
  return fd;
}

// The connections of a run, and the loop that drives them.
class Run {
 public:
  explicit Run(const Options& options)
      : options_(options), scripts_(options), totals_(options), scratch_(kReadBytes) {
    for (int i = 0; i < options.connections; ++i) {
      const int fd = connect_to(options.port);
      connections_.push_back(
          std::make_unique<Connection>(fd, scripts_.make(), totals_, scratch_.data()));
      epoll_event event{};
      event.events = EPOLLIN | EPOLLOUT | EPOLLET;
      event.data.ptr = connections_.back().get();
      epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    }
  }
  ~Run() { close(epoll_); }
  Run(const Run&) = delete;

  void run() {
    const auto began = Clock::now();
    const auto end = began + std::chrono::nanoseconds(static_cast<int64_t>(options_.seconds * 1e9));
    totals_.pace.begin(began);
    for (auto& connection : connections_) active_ += connection->begin() ? 1 : 0;
    std::vector<epoll_event> events(connections_.size());
    while (active_ > 0) {
      const timespec timeout = until_due();
      const int count =
          epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
      totals_.over |= Clock::now() >= end;
      for (int i = 0; i < count; ++i) {
        auto& event = events[static_cast<size_t>(i)];
        if (!static_cast<Connection*>(event.data.ptr)->on_event(event.events)) --active_;
      }
      wake_idle();
    }
    // What was due and not even sent waited at least until now.
    const uint64_t completed = totals_.latencies.total();
    const auto now = Clock::now();
    while (options_.rate > 0 && totals_.pace.due() < std::min(now, end))
      totals_.latencies.add(nanoseconds_since(totals_.pace.take()));
    print_result(totals_.latencies, completed, static_cast<double>((now - began).count()) / 1e9,
                 totals_.errors, totals_.first_error);
  }

 private:
  timespec until_due() const {
    using std::chrono::nanoseconds;
    nanoseconds wait = kLongestWait;
    if (!totals_.idle.empty())
      wait = std::clamp<nanoseconds>(totals_.pace.due() - Clock::now(), nanoseconds(0), wait);
    return {wait.count() / 1'000'000'000, wait.count() % 1'000'000'000};
  }

  void wake_idle() {
    while (!totals_.idle.empty() && (totals_.stopped() || totals_.pace.is_due())) {
      Connection* connection = totals_.idle.back();
      totals_.idle.pop_back();
      if (!connection->begin()) --active_;
    }
  }

  const Options& options_;
  Scripts scripts_;
  Totals totals_;
  std::vector<char> scratch_;
  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<std::unique_ptr<Connection>> connections_;
  size_t active_ = 0;
};

}  // namespace
}  // namespace kyanite::load

int main(int argc, char** argv) {
  const auto options = kyanite::load::parse_options({argv + 1, argv + argc});
  if (!options) {
    std::fputs("load: see the head of tests/load/load.cc for how to call it\n", stderr);
    return EXIT_FAILURE;
  }
  std::signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_TIMERSLACK, 1);  // Requests are due to the microsecond.
  kyanite::load::Run(*options).run();
  return EXIT_SUCCESS;
}
