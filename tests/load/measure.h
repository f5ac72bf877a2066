// What the programs of this folder share: the clock, and one line of JSON as their only output.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string_view>

#include "histogram.h"

namespace kyanite::load {

using Clock = std::chrono::steady_clock;

inline uint64_t nanoseconds_since(Clock::time_point begin) {
  return static_cast<uint64_t>((Clock::now() - begin).count());
}

// Of this process, all threads.
inline double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// `completed` may be less than there are latencies: what was given up waited as well.
inline void print_result(const Histogram& latencies, uint64_t completed, double seconds,
                         uint64_t errors, std::string_view first_error) {
  std::printf(
      "{\"count\": %llu, \"seconds\": %.4f, \"rate\": %.1f, \"errors\": %llu, \"first_error\": "
      "\"%.*s\", \"p50_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f, \"cpu_s\": %.6f, "
      "\"unsent\": %llu}\n",
      static_cast<unsigned long long>(completed), seconds, static_cast<double>(completed) / seconds,
      static_cast<unsigned long long>(errors), static_cast<int>(first_error.size()),
      first_error.data(), latencies.microseconds(0.5), latencies.microseconds(0.99),
      latencies.microseconds(0.999), cpu_seconds(),
      static_cast<unsigned long long>(latencies.total() - completed));
}

inline void print_result(const Histogram& latencies, double seconds, uint64_t errors,
                         std::string_view first_error) {
  print_result(latencies, latencies.total(), seconds, errors, first_error);
}

}  // namespace kyanite::load
