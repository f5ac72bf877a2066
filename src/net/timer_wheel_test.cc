#include "net/timer_wheel.h"

#include <gtest/gtest.h>

#include <list>
#include <random>
#include <vector>

namespace kyanite::net {
namespace {

constexpr int64_t kStart = 1'000'000'007;
constexpr int64_t kTurn = TimerWheel::kTickMs * TimerWheel::kSlots;

struct Named : Timer {
  int fired = 0;
};

void advance(TimerWheel& wheel, int64_t now_ms) {
  wheel.advance(now_ms, [](Timer& timer) { ++static_cast<Named&>(timer).fired; });
}

TEST(TimerWheel, FiresOnceNotEarlyAndAtMostOneTickLate) {
  for (const int64_t delay : {int64_t{0}, int64_t{1}, TimerWheel::kTickMs, int64_t{777}, kTurn - 1,
                              kTurn, kTurn + 1, 3 * kTurn + 5}) {
    SCOPED_TRACE(delay);
    TimerWheel wheel(kStart);
    Named timer;
    wheel.arm(timer, kStart + delay);
    int64_t fired_at = 0;
    for (int64_t now = kStart; now <= kStart + delay + 2 * TimerWheel::kTickMs; ++now) {
      advance(wheel, now);
      if (timer.fired > 0 && fired_at == 0) fired_at = now;
    }
    EXPECT_EQ(timer.fired, 1);
    EXPECT_GE(fired_at, kStart + delay);
    EXPECT_LE(fired_at, kStart + delay + TimerWheel::kTickMs);
  }
}

TEST(TimerWheel, TheLastDeadlineCounts) {
  TimerWheel wheel(kStart);
  Named later, sooner, never, unarmed;
  wheel.arm(later, kStart + 100);
  wheel.arm(later, kStart + 5'000);
  wheel.arm(sooner, kStart + 5'000);
  wheel.arm(sooner, kStart + 100);
  wheel.arm(never, kStart + 100);
  wheel.disarm(never);
  wheel.arm(unarmed, kStart + 100);
  wheel.arm(unarmed, Timer::kNever);
  advance(wheel, kStart + 200);
  EXPECT_EQ(later.fired, 0);
  EXPECT_EQ(sooner.fired, 1);
  advance(wheel, kStart + 5'100);
  EXPECT_EQ(later.fired, 1);
  EXPECT_EQ(never.fired, 0);
  EXPECT_EQ(unarmed.fired, 0);
  wheel.arm(never, kStart + 5'200);
  advance(wheel, kStart + 5'300);
  EXPECT_EQ(never.fired, 1);
}

TEST(TimerWheel, ALongSleepMissesNothing) {
  TimerWheel wheel(kStart);
  std::list<Named> timers(100);
  int64_t delay = 0;
  for (Named& timer : timers) wheel.arm(timer, kStart + (delay += 997));
  advance(wheel, kStart + 10 * kTurn);
  for (const Named& timer : timers) EXPECT_EQ(timer.fired, 1);
}

TEST(TimerWheel, QuietUntilTheNextSlot) {
  TimerWheel wheel(kStart);
  EXPECT_EQ(wheel.quiet_ms(kStart), -1);
  Named timer;
  wheel.arm(timer, kStart + 1'000);
  EXPECT_GE(wheel.quiet_ms(kStart), 1'000);
  EXPECT_LE(wheel.quiet_ms(kStart), 1'000 + TimerWheel::kTickMs);
  EXPECT_EQ(wheel.quiet_ms(kStart + 2'000), 0);
  wheel.arm(timer, kStart + 100 * kTurn);
  EXPECT_LE(wheel.quiet_ms(kStart), kTurn);
  wheel.remove(timer);
}

// Against the plain rule, with removals in between; sleeps only as long as the wheel allows.
TEST(TimerWheel, RandomSchedule) {
  constexpr unsigned kSeed = 20240917;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  TimerWheel wheel(kStart);
  std::vector<Named> timers(200);
  std::vector<int> expected(timers.size(), 0);
  int64_t now = kStart;
  for (int round = 0; round < 20'000; ++round) {
    const size_t pick = random() % timers.size();
    Named& timer = timers[pick];
    switch (random() % 4) {
      case 0:
        wheel.remove(timer);
        wheel.disarm(timer);
        break;
      case 1:
        wheel.disarm(timer);
        break;
      default:
        wheel.arm(timer, now + static_cast<int64_t>(random() % (2 * kTurn)));
    }
    const int64_t quiet = wheel.quiet_ms(now);
    now += std::min<int64_t>(quiet < 0 ? 500 : quiet, static_cast<int64_t>(random() % 500));
    const int64_t tick_start = now / TimerWheel::kTickMs * TimerWheel::kTickMs;
    for (size_t i = 0; i < timers.size(); ++i) {
      if (timers[i].deadline_ms() <= tick_start) ++expected[i];
    }
    advance(wheel, now);
    for (size_t i = 0; i < timers.size(); ++i) ASSERT_EQ(timers[i].fired, expected[i]) << round;
  }
  for (Named& timer : timers) wheel.remove(timer);
}

}  // namespace
}  // namespace kyanite::net
