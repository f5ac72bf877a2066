// The clock of the day, as wrong and as fast as is wanted. Clocks that only count on are right.
#include <pthread.h>
#include <sys/time.h>

#include <ctime>

#include "next.h"
#include "state.h"

using kyanite::faults::state;

namespace {

constexpr int64_t kSecond = 1'000'000'000;

// What the clock of the day shows is a line over the true time: through (since, since + offset),
// rising by the pace.
struct Line {
  int64_t pace = 1;
  int64_t since = 0;
  int64_t offset = 0;

  int64_t shown(int64_t real) const { return since + pace * (real - since) + offset; }
  int64_t real(int64_t shown) const { return since + (shown - offset - since) / pace; }
};

Line line() {
  if (state() == nullptr) return {};
  const auto& control = *state()->control;
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const int64_t pace = control.clock_pace.load(kRelaxed);
  return {pace == 0 ? 1 : pace, control.clock_since_ns.load(kRelaxed),
          control.clock_offset_ns.load(kRelaxed)};
}

int64_t nanos(const timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * kSecond + time.tv_nsec;
}
timespec to_timespec(int64_t nanos) { return {nanos / kSecond, nanos % kSecond}; }

bool is_of_the_day(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int result = KYANITE_NEXT(clock_gettime)(clock, time);
  if (result != 0 || !is_of_the_day(clock)) return result;
  if (state() != nullptr) kyanite::faults::count(state()->control->clock_readings);
  *time = to_timespec(line().shown(nanos(*time)));
  return result;
}

int gettimeofday(timeval* time, void*) noexcept {
  timespec now{};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return result;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

// The kernel waits by the true time.
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* until) {
  const timespec real = to_timespec(line().real(nanos(*until)));
  return KYANITE_NEXT(pthread_cond_timedwait)(condition, mutex, &real);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  const timespec real = is_of_the_day(clock) ? to_timespec(line().real(nanos(*until))) : *until;
  return KYANITE_NEXT(pthread_cond_clockwait)(condition, mutex, clock, &real);
}

}  // extern "C"
