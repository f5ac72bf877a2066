// When requests are to be sent: whenever there is a connection for them, or at fixed times.
#pragma once

#include "measure.h"

namespace kyanite::load {

class Pace {
 public:
  // Requests a second; 0: a request is due whenever somebody asks.
  explicit Pace(double rate) : interval_(rate > 0 ? static_cast<int64_t>(1e9 / rate) : 0) {}

  void begin(Clock::time_point now) { due_ = now; }

  // When the next request is, or was, due.
  Clock::time_point due() const { return due_; }
  bool is_due() const { return interval_.count() == 0 || due_ <= Clock::now(); }

  // The request that is due is sent: returns what its latency counts from.
  Clock::time_point take() {
    if (interval_.count() == 0) return Clock::now();
    const auto due = due_;
    due_ += interval_;
    return due;
  }

 private:
  const std::chrono::nanoseconds interval_;
  Clock::time_point due_;
};

}  // namespace kyanite::load
