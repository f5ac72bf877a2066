// What the programs of this folder share: the clock, and one line of JSON as their only output.
#pragma once

#include <chrono>
#include <cstdio>
#include <string_view>

#include "histogram.h"

namespace kyanite::load {

using Clock = std::chrono::steady_clock;

inline uint64_t nanoseconds_since(Clock::time_point begin) {
  return static_cast<uint64_t>((Clock::now() - begin).count());
}

inline void print_result(const Histogram& latencies, double seconds, uint64_t errors,
                         std::string_view first_error) {
  std::printf(
      "{\"count\": %llu, \"seconds\": %.4f, \"rate\": %.1f, \"errors\": %llu, \"first_error\": "
      "\"%.*s\", \"p50_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f}\n",
      static_cast<unsigned long long>(latencies.total()), seconds,
      static_cast<double>(latencies.total()) / seconds, static_cast<unsigned long long>(errors),
      static_cast<int>(first_error.size()), first_error.data(), latencies.microseconds(0.5),
      latencies.microseconds(0.99), latencies.microseconds(0.999));
}

}  // namespace kyanite::load
