// A closed-loop load generator: so many keep-alive connections, each sending its next request when
// it has the whole reply to the last. Requests are made and signed before the clock starts. One
// thread, epoll.
//
//   load --port P --connections N --seconds S [--count N] [--account A --key K] WHAT
//
//   --get PATH                    repeats one request
//   --put PREFIX --size BYTES     block blobs of their own names, PREFIX/0123456789abcdef
//   --range DIRECTORY --size B    ranges somewhere in the files DIRECTORY/0, /1 ..., which exist
//   --messages PATH --size BYTES  puts messages on the queue QUEUE/messages
//   --consume PATH                takes a message and deletes it, which counts as one
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
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "measure.h"

namespace kyanite::load {
namespace {

constexpr size_t kReadBytes = 256 * 1024;
constexpr size_t kMostHead = 16 * 1024;

struct Totals {
  Histogram latencies;
  uint64_t errors = 0;
  std::string first_error;
  uint64_t most = 0;  // Ends the run, unless 0.
  bool over = false;

  bool stopped() const { return over || (most > 0 && latencies.total() >= most); }
  void fail(std::string why) {
    if (errors++ == 0) first_error = std::move(why);
  }
};

// One connection: at any time either sending a request or receiving its reply.
class Connection {
 public:
  Connection(int fd, std::unique_ptr<Script> script, Totals& totals, char* scratch)
      : fd_(fd), script_(std::move(script)), totals_(totals), scratch_(scratch) {}
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;

  // False when there is nothing left to do or the connection is of no more use.
  bool begin() {
    if (completed_ && totals_.stopped()) return false;
    request_ = script_->next(reply_);
    if (!request_) return false;
    if (completed_) began_ = Clock::now();
    completed_ = script_->completes();
    sent_ = 0;
    head_.clear();
    reply_.clear();
    body_left_ = 0;
    in_body_ = false;
    return send_some();
  }

  bool on_event(uint32_t events) {
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
      const bool body = in_body_ && body_left_ > 0 && !script_->wants_replies();
      const size_t wanted = body ? body_left_ : kReadBytes;
      const ssize_t got =
          body ? recv(fd_, nullptr, wanted, MSG_TRUNC) : recv(fd_, scratch_, wanted, 0);
      if (got == 0) {
        errno = ECONNRESET;
        return lost("receive");
      }
      if (got < 0) return errno == EAGAIN || lost("receive");
      if (body) {
        body_left_ -= static_cast<size_t>(got);
      } else if (in_body_) {
        reply_.append(scratch_, static_cast<size_t>(got));
        body_left_ -= std::min(body_left_, static_cast<size_t>(got));
      } else if (!take_head({scratch_, static_cast<size_t>(got)})) {
        return false;
      }
      if (in_body_ && body_left_ == 0) {
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
    const size_t length = content_length(head);
    const size_t here = head_.size() - end - 4;
    if (here > length) {
      errno = EPROTO;
      return lost("more than one reply");
    }
    body_left_ = length - here;
    if (script_->wants_replies()) reply_ = head_.substr(end + 4);
    in_body_ = true;
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
  bool in_body_ = false;
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

int run(const Options& options) {
  Scripts scripts(options);
  Totals totals;
  totals.most = options.count;
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  std::vector<char> scratch(kReadBytes);
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < options.connections; ++i) {
    const int fd = connect_to(options.port);
    connections.push_back(std::make_unique<Connection>(fd, scripts.make(), totals, scratch.data()));
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.ptr = connections.back().get();
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  }
  const auto began = Clock::now();
  size_t active = 0;
  for (auto& connection : connections) active += connection->begin() ? 1 : 0;
  std::vector<epoll_event> events(connections.size());
  while (active > 0) {
    const int count = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 1000);
    if (static_cast<double>(nanoseconds_since(began)) > options.seconds * 1e9) totals.over = true;
    for (int i = 0; i < count; ++i) {
      auto& event = events[static_cast<size_t>(i)];
      if (!static_cast<Connection*>(event.data.ptr)->on_event(event.events)) --active;
    }
  }
  const double seconds = static_cast<double>(nanoseconds_since(began)) / 1e9;
  print_result(totals.latencies, seconds, totals.errors, totals.first_error);
  connections.clear();
  close(epoll);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace kyanite::load

int main(int argc, char** argv) {
  const auto options = kyanite::load::parse_options({argv + 1, argv + argc});
  if (!options) {
    std::fputs("load: see the head of tests/load/load.cc for how to call it\n", stderr);
    return EXIT_FAILURE;
  }
  return kyanite::load::run(*options);
}
