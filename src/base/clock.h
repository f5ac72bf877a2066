// Time in the unit the protocol uses: 100-nanosecond ticks since 0001-01-01 00:00 UTC (.NET ticks).
// ETags are such counts. Whoever needs the time is given a Clock, so that tests move it by hand.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>

namespace kyanite {

inline constexpr int64_t kTicksPerSecond = 10'000'000;
inline constexpr int64_t kUnixEpochTicks = 621'355'968'000'000'000;

struct Time {
  int64_t ticks = 0;  // 0: unset.

  auto operator<=>(const Time&) const = default;
  bool set() const { return ticks != 0; }
  // Seconds since 0001-01-01, as dates with one-second granularity compare.
  int64_t seconds() const { return ticks / kTicksPerSecond; }
  int64_t unix_seconds() const { return seconds() - kUnixEpochTicks / kTicksPerSecond; }
  static Time from_unix_seconds(int64_t seconds) {
    return {kUnixEpochTicks + seconds * kTicksPerSecond};
  }
  static Time from_unix_nanos(int64_t nanos) { return {kUnixEpochTicks + nanos / 100}; }
};

inline Time after_seconds(Time start, int64_t seconds) {
  return {start.ticks + seconds * kTicksPerSecond};
}

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override;
};

// Until when something may take. Without a clock it has all the time in the world.
struct Deadline {
  const Clock* clock = nullptr;
  Time until;
  bool over() const { return clock != nullptr && clock->now() >= until; }
};

// Moves only when told to. Thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start) : ticks_(start.ticks) {}
  Time now() const override { return {ticks_.load()}; }
  void advance_seconds(int64_t seconds) { ticks_ += seconds * kTicksPerSecond; }
  void set(Time time) { ticks_ = time.ticks; }

 private:
  std::atomic<int64_t> ticks_;
};

}  // namespace kyanite
