#include "drive/serve.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/log.h"
#include "drive/connection.h"
#include "net/inbox.h"
#include "smb/file_io.h"

namespace kyanite::drive {

namespace {

class SocketCarrier final : public Carrier {
 public:
  explicit SocketCarrier(net::Connection& socket) : socket_(socket) {}

  Executor& loop() const override { return socket_.shard().loop; }
  std::string_view peer() const override { return socket_.peer(); }
  std::string local() const override { return socket_.local(); }
  Task<bool> write(std::span<iovec> pieces, bool more) override {
    return socket_.write_all(pieces, more, net::Connection::Counted::kAlready);
  }
  Task<bool> write_file(os::FileSlice slice) override {
    return socket_.send_file(std::move(slice));
  }
  bool all_arrived() const override { return socket_.unconfirmed_bytes() == 0; }
  Task<void> sleep(std::chrono::milliseconds time) override {
    co_await socket_.shard().loop.sleep_until(socket_.now_ms() + time.count());
  }
  void cut() override {
    socket_.cut();
    // The connection may live on for what others need of it.
    socket_.hang_up();
  }

 private:
  net::Connection& socket_;
};

// Spare inboxes of this thread, which is one event loop: idle connections have none.
thread_local std::vector<std::unique_ptr<net::Inbox>> spare_inboxes;
constexpr size_t kMaxSpareInboxes = 64;

std::unique_ptr<net::Inbox> take_inbox() {
  if (spare_inboxes.empty()) return std::make_unique<net::Inbox>();
  auto inbox = std::move(spare_inboxes.back());
  spare_inboxes.pop_back();
  return inbox;
}

void give_inbox(std::unique_ptr<net::Inbox> inbox) {
  inbox->forget();
  if (spare_inboxes.size() < kMaxSpareInboxes) spare_inboxes.push_back(std::move(inbox));
}

// Where in memory a frame begins, so that the data of a WRITE, which is what large frames have,
// lies on whole pages there, if it is where clients put it: then it is written to files from there.
size_t begin_of_frame(size_t bytes, std::string_view first_bytes) {
  if (bytes <= kBytesPerCredit) return 0;
  const bool sealed = smb::kind_of(first_bytes) == smb::FrameKind::kSealed;
  return kPageBytes - smb::WriteRequest::kDataOffset - (sealed ? smb::kTransformBytes : 0);
}

// So many frames are received before the loop's other connections have their turn.
constexpr size_t kFramesATurn = 16;

// Cuts what a socket receives into frames.
class FrameReader {
 public:
  FrameReader(net::Connection& socket, Connection& connection, const SmbProtocol::Times& times)
      : socket_(socket),
        connection_(connection),
        idle_ms_(times.idle.count()),
        logon_ms_(times.logon.count()),
        logon_by_ms_(socket.now_ms() + logon_ms_),
        active_ms_(socket.now_ms()) {}

  struct Frame {
    Buffer buffer;
    size_t begin = 0;  // In the buffer.
  };
  // Nothing when the peer has ended, takes too long or sends too much, or when the server stops.
  Task<std::optional<Frame>> next();

 private:
  Task<bool> receive_some();
  Task<bool> receive_rest(Buffer& frame, size_t bytes);
  void take_seat();
  int64_t logon_until_ms();
  int64_t idle_until_ms();

  net::Connection& socket_;
  Connection& connection_;
  const int64_t idle_ms_;
  const int64_t logon_ms_;
  int64_t logon_by_ms_;  // While nobody has logged on, at first or any more.
  bool logged_on_ = false;
  int64_t active_ms_;  // When something came last, or was still open or served.
  std::unique_ptr<net::Inbox> inbox_;
  bool serving_ = false;
  size_t keep_alives_ = 0;
};

Task<std::optional<FrameReader::Frame>> FrameReader::next() {
  while (true) {
    if (socket_.draining()) co_return std::nullopt;
    if (!connection_.authenticated() && socket_.now_ms() >= logon_until_ms())
      co_return std::nullopt;
    if (inbox_ != nullptr && inbox_->unread().size() >= smb::kPrefixBytes) {
      std::array<char, smb::kPrefixBytes> bytes{};
      std::copy_n(inbox_->unread().begin(), bytes.size(), bytes.begin());
      const smb::Prefix prefix = smb::read_prefix(bytes, connection_.most_frame_bytes());
      if (prefix.kind == smb::Prefix::kRefused) co_return std::nullopt;
      inbox_->consume(bytes.size());
      if (prefix.kind == smb::Prefix::kKeepAlive) {
        if (++keep_alives_ % kFramesATurn == 0) co_await socket_.shard().loop.turn();
        continue;
      }
      if (!co_await connection_.reserve(prefix.bytes)) co_return std::nullopt;
      const size_t begin = begin_of_frame(prefix.bytes, inbox_->unread());
      Buffer frame(begin + prefix.bytes);
      frame.resize(begin);
      const size_t here = std::min(prefix.bytes, inbox_->unread().size());
      frame.append(inbox_->unread().substr(0, here));
      inbox_->consume(here);
      if (!co_await receive_rest(frame, begin + prefix.bytes)) co_return std::nullopt;
      co_return Frame{std::move(frame), begin};
    }
    if (!co_await receive_some()) co_return std::nullopt;
  }
}

// Who has something open or is being served does not rest, and yields to others last.
void FrameReader::take_seat() {
  const bool serving = connection_.has_opens() || connection_.busy();
  if (serving == std::exchange(serving_, serving)) return;
  if (serving) {
    socket_.begin_request();
  } else {
    socket_.end_request();
  }
}

// Nobody is logged on. The time for it begins when that is seen first.
int64_t FrameReader::logon_until_ms() {
  if (std::exchange(logged_on_, false)) logon_by_ms_ = socket_.now_ms() + logon_ms_;
  return logon_by_ms_;
}

int64_t FrameReader::idle_until_ms() {
  if (!connection_.authenticated()) return logon_until_ms();
  logged_on_ = true;
  const int64_t now = socket_.now_ms();
  if (connection_.has_opens() || connection_.busy()) active_ms_ = now;
  return active_ms_ + idle_ms_;
}

// The beginning of a frame, and what comes with it.
Task<bool> FrameReader::receive_some() {
  while (true) {
    if (inbox_ == nullptr) inbox_ = take_inbox();
    if (inbox_->unread().empty()) {
      inbox_->forget();
    } else if (inbox_->room() == 0) {
      inbox_->make_room();
    }
    const net::Progress progress = inbox_->receive(socket_);
    if (progress.step == net::Progress::kMoved) {
      active_ms_ = socket_.now_ms();
      co_return true;
    }
    if (progress.step == net::Progress::kEnd || progress.step == net::Progress::kFailed)
      co_return false;
    if (inbox_->unread().empty()) give_inbox(std::move(inbox_));
    take_seat();
    const net::Wake wake = co_await socket_.wait_idle(progress.step, idle_until_ms());
    if (wake == net::Wake::kReady) continue;
    // Whoever had something open or served meanwhile is not idle.
    if (wake == net::Wake::kTimedOut && idle_until_ms() > socket_.now_ms()) continue;
    co_return false;
  }
}

Task<bool> FrameReader::receive_rest(Buffer& frame, size_t bytes) {
  net::Patience patience(socket_.shard().timeouts.body, socket_.shard().timeouts.least_rate);
  while (frame.size() < bytes) {
    const net::Progress progress =
        socket_.read_some(frame.data() + frame.size(), bytes - frame.size());
    if (progress.step == net::Progress::kMoved) {
      frame.resize(frame.size() + progress.bytes);
      patience.moved(progress.bytes);
      continue;
    }
    if (progress.step == net::Progress::kEnd || progress.step == net::Progress::kFailed)
      co_return false;
    if (patience.left_ms() <= 0) co_return false;
    const int64_t before = socket_.now_ms();
    int64_t deadline = before + patience.left_ms();
    if (!connection_.authenticated()) deadline = std::min(deadline, logon_until_ms());
    const net::Wake wake = co_await socket_.wait(progress.step, deadline);
    if (wake != net::Wake::kReady) co_return false;
    patience.waited(socket_.now_ms() - before);
  }
  co_return true;
}

}  // namespace

Task<void> SmbProtocol::serve(net::Connection& socket) {
  socket.watch_peer();
  SocketCarrier carrier(socket);
  Connection connection(drive_, carrier);
  FrameReader reader(socket, connection, times_);
  try {
    for (size_t served = 1; co_await connection.wait_for_room(); ++served) {
      auto frame = co_await reader.next();
      if (!frame || !co_await connection.receive(std::move(frame->buffer), frame->begin)) break;
      // Whoever sends many requests at once does not keep the others waiting.
      if (served % kFramesATurn == 0) co_await socket.shard().loop.turn();
    }
  } catch (const std::bad_alloc&) {
    log_error("out of memory for a frame of SMB");
  }
  co_await connection.end(socket.draining());
}

}  // namespace kyanite::drive
