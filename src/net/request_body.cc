#include "net/request_body.h"

#include <algorithm>
#include <utility>

#include "http/serialize.h"

namespace kyanite::net {

namespace {
// Chunks shorter than this are received together with their framing, through the inbox.
constexpr uint64_t kDirectBytes = Inbox::kUsualBytes;
// How much one body may receive before the loop's other connections have their turn.
constexpr uint64_t kReceivedATurn = 1024 * 1024;
}  // namespace

RequestBody::RequestBody(Connection& connection, Inbox& inbox, const http::Head& head)
    : connection_(connection),
      inbox_(inbox),
      framing_(head.framing),
      content_length_(head.content_length),
      continue_due_(head.expect_continue && inbox.unread().empty()),
      length_left_(head.content_length),
      patience_(connection.shard().timeouts.body, connection.shard().timeouts.least_rate) {}

std::optional<uint64_t> RequestBody::length() const {
  if (framing_ == http::Framing::kChunked) return {};
  return content_length_;
}

bool RequestBody::finished() const {
  return framing_ == http::Framing::kChunked ? chunks_.state() == http::ChunkedDecoder::State::kDone
                                             : length_left_ == 0;
}

http::BodyError RequestBody::fail(http::BodyError why) {
  failure_ = why;
  return why;
}

uint64_t RequestBody::run_left() const {
  return framing_ == http::Framing::kChunked ? chunks_.data_left() : length_left_;
}

void RequestBody::pass(uint64_t count) {
  if (framing_ == http::Framing::kChunked) {
    chunks_.pass_data(count);
  } else {
    length_left_ -= count;
  }
}

bool RequestBody::take_from_inbox(Buffer& out) {
  const auto count = static_cast<size_t>(
      std::min<uint64_t>(std::min(out.room(), inbox_.unread().size()), run_left()));
  if (count == 0) return false;
  out.append(inbox_.unread().substr(0, count));
  inbox_.consume(count);
  pass(count);
  return true;
}

// True when something was decoded, or an error was found.
bool RequestBody::decode_framing() {
  if (framing_ != http::Framing::kChunked || inbox_.unread().empty() ||
      chunks_.state() != http::ChunkedDecoder::State::kFraming) {
    return false;
  }
  inbox_.consume(chunks_.feed(inbox_.unread()));
  if (chunks_.state() == http::ChunkedDecoder::State::kError) fail(http::BodyError::kMalformed);
  return true;
}

Task<bool> RequestBody::send_continue() {
  continue_due_ = false;
  iovec piece{const_cast<char*>(http::kContinue.data()), http::kContinue.size()};
  co_return co_await connection_.write_all({&piece, 1});
}

// Time that is spent on this side does not count, only what the peer lets pass.
Task<bool> RequestBody::wait_to_receive(Progress::Step wanted) {
  patience_.moved(std::exchange(since_wait_, 0));
  Wake wake = Wake::kTimedOut;
  if (patience_.left_ms() > 0) {
    const int64_t before = connection_.now_ms();
    wake = co_await connection_.wait(wanted, before + patience_.left_ms());
    patience_.waited(connection_.now_ms() - before);
  }
  if (wake == Wake::kReady) co_return true;
  fail(wake == Wake::kTimedOut ? http::BodyError::kTimeout : http::BodyError::kDisconnected);
  co_return false;
}

// Receives at least one byte, into `out` when a long run of data comes next, else into the inbox.
Task<bool> RequestBody::receive(Buffer& out) {
  const bool direct = framing_ == http::Framing::kLength || run_left() >= kDirectBytes;
  if (!direct) inbox_.forget();
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(out.room(), run_left()));
  while (true) {
    const Progress progress = direct ? connection_.read_some(out.data() + out.size(), wanted)
                                     : inbox_.receive(connection_);
    if (progress.step == Progress::kMoved) {
      if (direct) {
        out.resize(out.size() + progress.bytes);
        pass(progress.bytes);
      }
      since_turn_ += progress.bytes;
      since_wait_ += progress.bytes;
      co_return true;
    }
    if (progress.step == Progress::kEnd || progress.step == Progress::kFailed) {
      fail(http::BodyError::kDisconnected);
      co_return false;
    }
    since_turn_ = 0;
    if (!co_await wait_to_receive(progress.step)) co_return false;
  }
}

Task<Result<Buffer, http::BodyError>> RequestBody::next() {
  if (failure_) co_return *failure_;
  if (finished()) co_return Buffer();
  if (continue_due_ && !co_await send_continue()) {
    co_return fail(http::BodyError::kDisconnected);
  }
  if (since_turn_ >= kReceivedATurn) {
    since_turn_ = 0;
    co_await connection_.shard().loop.turn();
  }
  const bool chunked = framing_ == http::Framing::kChunked;
  Buffer out(
      static_cast<size_t>(chunked ? kChunkBytes : std::min(length_left_, uint64_t{kChunkBytes})));
  while (!finished() && out.room() > 0) {
    if (decode_framing()) {
      if (failure_) co_return *failure_;
      continue;
    }
    if (take_from_inbox(out)) continue;
    if (!co_await receive(out)) co_return *failure_;
  }
  co_return out;
}

bool RequestBody::skippable() const {
  if (failure_ || continue_due_) return false;
  return framing_ == http::Framing::kChunked || length_left_ <= kMaxSkippedBytes;
}

Task<bool> RequestBody::skip() {
  uint64_t skipped = 0;
  while (!finished()) {
    if (skipped > kMaxSkippedBytes) co_return false;
    auto dropped = co_await next();
    if (!dropped) co_return false;
    skipped += dropped->size();
  }
  co_return true;
}

}  // namespace kyanite::net
