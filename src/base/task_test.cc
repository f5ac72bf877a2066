#include "base/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "base/executor.h"
#include "base/sanitized.h"
#include "base/started.h"

namespace kyanite {
namespace {

Task<int> number(int value) { co_return value; }

// Whether resuming another coroutine is a jump: clang always makes it one, GCC in optimised,
// uninstrumented code.
#if defined(__clang__)
constexpr bool kTransfersSymmetrically = true;
#elif defined(__OPTIMIZE__)
constexpr bool kTransfersSymmetrically = !kSanitized;
#else
constexpr bool kTransfersSymmetrically = false;
#endif

TEST(Task, IsLazy) {
  bool ran = false;
  const auto body = [](bool& flag) -> Task<void> {
    flag = true;
    co_return;
  };
  {
    auto task = body(ran);
    EXPECT_FALSE(ran);
  }
  EXPECT_FALSE(ran);  // Dropped unstarted, it never runs.
  RunLoop::run(body(ran));
  EXPECT_TRUE(ran);
}

TEST(Task, CarriesValuesThatOnlyMove) {
  const auto inner = []() -> Task<std::unique_ptr<std::string>> {
    co_return std::make_unique<std::string>("moved");
  };
  const auto outer = [](Task<std::unique_ptr<std::string>> task) -> Task<std::string> {
    auto value = co_await std::move(task);
    co_return *value;
  };
  EXPECT_EQ(RunLoop::run(outer(inner())), "moved");
}

TEST(Task, AssignmentDropsTheTaskHeldBefore) {
  auto held = std::make_shared<int>(1);
  const auto holding = [](std::shared_ptr<int> value) -> Task<int> { co_return *value; };
  auto task = holding(held);
  EXPECT_EQ(held.use_count(), 2);
  task = number(2);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(RunLoop::run(std::move(task)), 2);
}

TEST(Task, ExceptionsReachTheAwaiter) {
  const auto thrower = []() -> Task<int> {
    throw std::bad_alloc();
    co_return 0;
  };
  const auto catcher = [](Task<int> task) -> Task<bool> {
    bool caught = false;
    try {
      co_await std::move(task);
    } catch (const std::bad_alloc&) {
      caught = true;
    }
    co_return caught;
  };
  EXPECT_TRUE(RunLoop::run(catcher(thrower())));
}

// A loop over tasks that finish at once must not use stack per turn.
TEST(Task, LongChainsUseNoStack) {
  const auto loop = []() -> Task<int> {
    int sum = 0;
    for (int i = 0; i < 1'000'000; ++i) sum += co_await number(1);
    co_return sum;
  };
  if (!kTransfersSymmetrically) GTEST_SKIP() << "a promise of optimised builds only";
  EXPECT_EQ(RunLoop::run(loop()), 1'000'000);
}

TEST(Started, RunsUpToItsFirstSuspensionAtOnce) {
  Pending<int> gate;
  int steps = 0;
  const auto body = [](Pending<int>& wait, int& count) -> Task<int> {
    ++count;
    const int value = co_await wait;
    ++count;
    co_return value;
  };
  const auto outer = [&]() -> Task<int> {
    Started<int> started(body(gate, steps));
    EXPECT_EQ(steps, 1);
    gate.set(7);
    co_return co_await started.join();
  };
  EXPECT_EQ(RunLoop::run(outer()), 7);
  EXPECT_EQ(steps, 2);
}

TEST(Started, MayFinishBeforeItIsJoinedOrNeverBeJoined) {
  const auto outer = []() -> Task<int> {
    Started<int> forgotten(number(1));
    Started<int> started(number(2));
    co_return co_await started.join();
  };
  EXPECT_EQ(RunLoop::run(outer()), 2);
}

TEST(Started, OverlapsWithItsStarter) {
  Workers workers(2);
  const auto outer = [&]() -> Task<int> {
    Started<int> one(workers.run([] { return 1; }));
    Started<int> two(workers.run([] { return 2; }));
    const int second = co_await two.join();
    co_return second * 10 + co_await one.join();
  };
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(RunLoop::run(outer()), 21);
}

}  // namespace
}  // namespace kyanite
