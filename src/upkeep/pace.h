// Keeps work on a disk that others use to so many bytes a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace kyanite::upkeep {

class Pace {
 public:
  // 0: as fast as it goes.
  explicit Pace(uint64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  // So many bytes were moved. Waits as long as that was too soon.
  void moved(uint64_t bytes) {
    if (bytes_per_second_ == 0) return;
    using Clock = std::chrono::steady_clock;
    const auto now = Clock::now();
    // Time that was not used is not made up for.
    if (due_ < now) due_ = now;
    due_ += std::chrono::nanoseconds(bytes * 1'000'000'000 / bytes_per_second_);
    if (due_ - now > kLeastWait) std::this_thread::sleep_until(due_);
  }

 private:
  static constexpr std::chrono::milliseconds kLeastWait{5};
  const uint64_t bytes_per_second_;
  std::chrono::steady_clock::time_point due_{};
};

}  // namespace kyanite::upkeep
