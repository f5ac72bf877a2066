#include "base/clock.h"

#include <ctime>

namespace kyanite {

Moment SystemClock::moment() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return {now.tv_sec * kTicksPerSecond + now.tv_nsec / 100};
}

Time SystemClock::now() const {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Time::from_unix_nanos(now.tv_sec * 1'000'000'000LL + now.tv_nsec);
}

}  // namespace kyanite
