// Which requests for locks a client has had answered, so that one that comes again, because its
// connection was lost before the answer came, is not done twice.
#pragma once

#include <array>
#include <cstdint>

namespace kyanite::drive {

// Of one open. A client numbers its requests in up to 64 buckets; index 0 is none of them.
class LockSequences {
 public:
  static constexpr uint32_t kBuckets = 64;

  // Only opens that outlive a connection have requests that come again.
  void enable() { enabled_ = true; }

  bool is_done(uint32_t index, uint32_t number) const {
    return is_bucket(index) && done_[index - 1] == number + 1;
  }
  void begin(uint32_t index) {
    if (is_bucket(index)) done_[index - 1] = 0;
  }
  void done(uint32_t index, uint32_t number) {
    if (is_bucket(index)) done_[index - 1] = static_cast<uint8_t>(number + 1);
  }

 private:
  bool is_bucket(uint32_t index) const { return enabled_ && index >= 1 && index <= kBuckets; }

  bool enabled_ = false;
  std::array<uint8_t, kBuckets> done_{};  // The last number of each, plus one; 0: none.
};

}  // namespace kyanite::drive
