// How long a peer may still keep this side waiting. Waiting uses it up and bytes that move give it
// back, so that whoever moves a few on the whole is waited for, and whoever sends or takes one now
// and then is not.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace kyanite::net {

class Patience {
 public:
  // `most`: for a peer that moves nothing. `bytes_per_second`: how many keep it as it is.
  Patience(std::chrono::milliseconds most, uint64_t bytes_per_second)
      : most_(most.count()), left_(most_), bytes_per_second_(bytes_per_second) {}

  int64_t left_ms() const { return left_; }
  void waited(int64_t ms) { left_ -= ms; }
  void moved(uint64_t bytes) {
    constexpr uint64_t kPlenty = uint64_t{1} << 40;
    left_ = std::min(
        most_, left_ + static_cast<int64_t>(std::min(bytes, kPlenty) * 1000 / bytes_per_second_));
  }
  void renew() { left_ = most_; }

 private:
  int64_t most_;
  int64_t left_;
  uint64_t bytes_per_second_;
};

}  // namespace kyanite::net
