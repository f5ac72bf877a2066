// Time in the unit the protocol uses: 100-nanosecond ticks since 0001-01-01 00:00 UTC (.NET ticks).
// ETags are such counts. Whoever needs the time is given a Clock, so that tests move it by hand.
// A Time is a date, which people set; how long something takes is counted in Moments, which only
// pass.
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

// Ticks since some beginning of no meaning. Means nothing to another process.
struct Moment {
  int64_t ticks = 0;

  auto operator<=>(const Moment&) const = default;
};

inline Moment after_seconds(Moment start, int64_t seconds) {
  return {start.ticks + seconds * kTicksPerSecond};
}

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
  // Goes on evenly whenever the date is set, forward or back.
  virtual Moment moment() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override;
  Moment moment() const override;
};

// For how long something may take, from when this is made. Without a clock it has all the time in
// the world.
class Deadline {
 public:
  Deadline() = default;
  Deadline(const Clock& clock, int64_t seconds) : clock_(&clock), began_(clock.moment()) {
    allow_seconds(seconds);
  }

  bool is_set() const { return clock_ != nullptr; }
  bool over() const { return clock_ != nullptr && clock_->moment() >= until_; }
  // What it may take from the same beginning on.
  void allow_seconds(int64_t seconds) { until_ = after_seconds(began_, seconds); }
  // Its date as the clock stands now, for what is stored; it is set.
  Time date() const { return {clock_->now().ticks + until_.ticks - clock_->moment().ticks}; }

 private:
  const Clock* clock_ = nullptr;
  Moment began_;
  Moment until_;
};

// Moves only when told to. Thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start) : ticks_(start.ticks) {}
  Time now() const override { return {ticks_.load()}; }
  Moment moment() const override { return {passed_.load()}; }
  // Time passes.
  void advance_seconds(int64_t seconds) {
    ticks_ += seconds * kTicksPerSecond;
    passed_ += seconds * kTicksPerSecond;
  }
  // Somebody sets the date, in no time.
  void set(Time time) { ticks_ = time.ticks; }

 private:
  std::atomic<int64_t> ticks_;
  std::atomic<int64_t> passed_ = 0;
};

}  // namespace kyanite
