// Bytes received and not yet used, of which the first part may be the head of the request being
// served.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/buffer.h"
#include "base/check.h"
#include "http/limits.h"
#include "net/connection.h"

namespace kyanite::net {

class Inbox {
 public:
  // Enough for nearly every head; longer ones get kLargeBytes.
  static constexpr size_t kUsualBytes = 16 * 1024;
  static constexpr size_t kLargeBytes = http::kMaxHeadBytes + kUsualBytes;

  std::string_view unread() const { return bytes_.view().substr(begin_); }
  size_t room() const { return bytes_.room(); }
  // The room that is left behind the first `count` unread bytes once the others are used.
  size_t room_behind(size_t count) const { return bytes_.capacity() - begin_ - count; }
  bool grown() const { return bytes_.capacity() != kUsualBytes; }

  void consume(size_t count) {
    CHECK(count <= unread().size());
    begin_ += count;
  }

  // One attempt to receive into the free room. Moves nothing.
  Progress receive(Connection& connection) {
    const Progress progress = connection.read_some(bytes_.data() + bytes_.size(), bytes_.room());
    if (progress.step == Progress::kMoved) bytes_.resize(bytes_.size() + progress.bytes);
    return progress;
  }

  // What was consumed so far stays in place, until release().
  void hold() { held_ = begin_; }
  void release() {
    held_ = 0;
    if (unread().empty()) forget();
  }
  // Uses the room of consumed bytes again, except those held. To be called when nothing is unread.
  void forget() {
    CHECK(unread().empty());
    bytes_.resize(held_);
    begin_ = held_;
  }

  // Moves the unread bytes to the front, into a larger block if they need one. Views into them end.
  void make_room() {
    CHECK(held_ == 0);
    const std::string_view rest = unread();
    const size_t length = rest.size();
    if (length > kUsualBytes / 2 && !grown()) {
      Buffer larger(kLargeBytes);
      larger.append(rest);
      bytes_ = std::move(larger);
    } else {
      std::memmove(bytes_.data(), rest.data(), length);
      bytes_.resize(length);
    }
    begin_ = 0;
  }

 private:
  Buffer bytes_{kUsualBytes};
  size_t begin_ = 0;
  size_t held_ = 0;
};

}  // namespace kyanite::net
