// The clock of the day, off by as much as is wanted. Clocks that only count on are right.
#include <pthread.h>
#include <sys/time.h>

#include <ctime>

#include "next.h"
#include "state.h"

using kyanite::faults::state;

namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t offset_ns() {
  return state() != nullptr ? state()->control->clock_offset_ns.load(std::memory_order_relaxed) : 0;
}

void move(timespec& time, int64_t by_ns) {
  const int64_t nanos = static_cast<int64_t>(time.tv_sec) * kSecond + time.tv_nsec + by_ns;
  time.tv_sec = nanos / kSecond;
  time.tv_nsec = nanos % kSecond;
}

bool is_of_the_day(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int result = KYANITE_NEXT(clock_gettime)(clock, time);
  if (result != 0 || !is_of_the_day(clock)) return result;
  if (state() != nullptr) kyanite::faults::count(state()->control->clock_readings);
  move(*time, offset_ns());
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
  timespec moved = *until;
  move(moved, -offset_ns());
  return KYANITE_NEXT(pthread_cond_timedwait)(condition, mutex, &moved);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  timespec moved = *until;
  if (is_of_the_day(clock)) move(moved, -offset_ns());
  return KYANITE_NEXT(pthread_cond_clockwait)(condition, mutex, clock, &moved);
}

}  // extern "C"
