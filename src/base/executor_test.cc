#include "base/executor.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace kyanite {
namespace {

Task<int> wait_for(Pending<int>& pending) { co_return co_await pending; }

TEST(Pending, SetBeforeItIsAwaited) {
  Pending<int> pending;
  pending.set(1);
  EXPECT_EQ(RunLoop::run(wait_for(pending)), 1);
}

TEST(Pending, SetWhileSomeoneWaits) {
  Pending<int> pending;
  const auto outer = [&]() -> Task<int> {
    int result = 0;
    Pending<bool> done;
    const auto waiter = [](Pending<int>& from, int& to, Pending<bool>& end) -> Detached {
      to = co_await from;
      end.set(true);
    };
    waiter(pending, result, done);
    EXPECT_EQ(result, 0);
    pending.set(2);
    EXPECT_EQ(result, 0);  // Posted to the executor, not resumed from within set().
    co_await done;
    co_return result;
  };
  EXPECT_EQ(RunLoop::run(outer()), 2);
}

TEST(Pending, WithoutAnExecutorTheSetterResumesTheWaiter) {
  Pending<int> pending;
  int result = 0;
  const auto waiter = [](Pending<int>& from, int& to) -> Detached { to = co_await from; };
  waiter(pending, result);
  EXPECT_EQ(Executor::current(), nullptr);
  pending.set(3);
  EXPECT_EQ(result, 3);
}

TEST(Pending, FromAnotherThreadTheWaiterResumesOnItsOwn) {
  for (int i = 0; i < 2000; ++i) {
    Pending<int> pending;
    const auto body = [](Pending<int>& from) -> Task<int> {
      const auto here = std::this_thread::get_id();
      const int value = co_await from;
      EXPECT_EQ(std::this_thread::get_id(), here);
      co_return value;
    };
    std::thread setter([&] { pending.set(i); });
    ASSERT_EQ(RunLoop::run(body(pending)), i);
    setter.join();
  }
}

TEST(Wake, ResumesEachOnItsExecutorWithOnePostEach) {
  // Keeps what is posted instead of running it.
  struct Recorder : Executor {
    void post(std::coroutine_handle<>) override { ADD_FAILURE() << "posted one by one"; }
    void post_all(std::span<const std::coroutine_handle<>> coroutines) override {
      posted.emplace_back(coroutines.begin(), coroutines.end());
    }
    std::vector<std::vector<std::coroutine_handle<>>> posted;
  };
  Recorder left;
  Recorder right;
  int resumed_here = 0;
  Pending<int> awaited;
  const auto waiter = [](Pending<int>& from, int& to) -> Detached { to = co_await from; };
  waiter(awaited, resumed_here);
  std::vector<Wakeup> wakeups = {{std::coroutine_handle<>::from_address(&left), &left},
                                 {std::coroutine_handle<>::from_address(&right), &right},
                                 {std::coroutine_handle<>::from_address(&wakeups), &left}};
  wakeups.push_back(*awaited.set_quietly(7));
  EXPECT_EQ(resumed_here, 0);
  wake(wakeups);
  EXPECT_EQ(resumed_here, 7);
  ASSERT_EQ(left.posted.size(), 1u);
  ASSERT_EQ(left.posted[0].size(), 2u);
  EXPECT_EQ(left.posted[0][0].address(), &left);
  EXPECT_EQ(left.posted[0][1].address(), &wakeups);
  ASSERT_EQ(right.posted.size(), 1u);
}

TEST(Workers, RunElsewhereAndResumeHere) {
  Workers workers(2);
  const auto here = std::this_thread::get_id();
  const auto body = [&]() -> Task<int> {
    const auto there = co_await workers.run([] { return std::this_thread::get_id(); });
    EXPECT_NE(there, here);
    EXPECT_EQ(std::this_thread::get_id(), here);
    co_return 1;
  };
  EXPECT_EQ(RunLoop::run(body()), 1);
}

TEST(Workers, FinishWhatWasSubmittedBeforeTheyEnd) {
  constexpr int kJobs = 1000;
  std::atomic<int> ran = 0;
  {
    Workers workers(3);
    for (int i = 0; i < kJobs; ++i) EXPECT_TRUE(workers.submit([&] { ++ran; }));
  }
  EXPECT_EQ(ran, kJobs);
}

TEST(Workers, JobsMaySubmitJobsWhileTheyEnd) {
  std::atomic<int> ran = 0;
  {
    Workers workers(1);
    EXPECT_TRUE(workers.submit([&] {
      ++ran;
      EXPECT_TRUE(workers.submit([&] { ++ran; }));
    }));
  }
  EXPECT_EQ(ran, 2);
}

// Keeps the only worker busy until it is let go.
class Stopper {
 public:
  explicit Stopper(Workers& workers) {
    // The worker may still wait when this is gone.
    EXPECT_TRUE(workers.submit([this, go = go_.get_future().share()] {
      begun_.set_value();
      go.wait();
    }));
    begun_.get_future().wait();
  }
  void let_go() { go_.set_value(); }

 private:
  std::promise<void> begun_;
  std::promise<void> go_;
};

TEST(Workers, RefuseWhatIsTooMuchButNoFurtherTurn) {
  std::atomic<int> ran = 0;
  {
    Workers workers(1, 3);
    Stopper stopper(workers);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(workers.submit([&] { ++ran; }));
    EXPECT_FALSE(workers.submit([&] { ran += 100; }));
    EXPECT_TRUE(workers.submit([&] { ++ran; }, Workers::Turn::kAgain));
    EXPECT_EQ(workers.waiting(), 4u);
    EXPECT_EQ(RunLoop::run(workers.try_run([] { return 1; })), std::nullopt);
    EXPECT_EQ(RunLoop::run(workers.run([] { return std::this_thread::get_id(); })),
              std::this_thread::get_id())
        << "what only burns is done by who asks";
    stopper.let_go();
  }
  EXPECT_EQ(ran, 4);
}

TEST(Workers, FirstTurnsComeBetweenFurtherOnes) {
  std::string order;
  {
    Workers workers(1);
    Stopper stopper(workers);
    for (const char job : {'a', 'b', 'c', 'd'})
      EXPECT_TRUE(workers.submit([&order, job] { order += job; }, Workers::Turn::kAgain));
    for (const char job : {'1', '2'}) EXPECT_TRUE(workers.submit([&order, job] { order += job; }));
    stopper.let_go();
  }
  EXPECT_EQ(order, "1a2bcd");
}

TEST(Workers, ThoseThatStandBackLeaveTheProcessorToOthers) {
  Workers usual(1);
  Workers standing_back(1, 1, Workers::Priority::kStandsBack);
  const auto niceness = [] { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); };
  EXPECT_GT(RunLoop::run(standing_back.run(niceness)), RunLoop::run(usual.run(niceness)));
}

TEST(Workers, ServeManyExecutorsAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 500;
  Workers workers(2);
  std::atomic<int> sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto body = [](Workers& shared, std::atomic<int>& total) -> Task<void> {
        for (int n = 0; n < kTimes; ++n) total += co_await shared.run([] { return 1; });
      };
      RunLoop::run(body(workers, sum));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum, kThreads * kTimes);
}

TEST(Executor, YieldLetsOthersGoFirst) {
  std::string order;
  const auto count = [&](char name) -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      order += name;
      co_await Executor::yield();
    }
  };
  const auto both = [&]() -> Task<int> {
    detach(count('a'));
    co_await count('b');
    co_return 0;
  };
  RunLoop::run(both());
  EXPECT_EQ(order, "ababab");
  detach(count('c'));  // No executor: nobody to wait for.
  EXPECT_EQ(order, "abababccc");
}

TEST(RunLoop, IsCurrentWhileItRunsAndMayNest) {
  const auto inner = []() -> Task<Executor*> { co_return Executor::current(); };
  const auto outer = [&]() -> Task<int> {
    Executor* const mine = Executor::current();
    EXPECT_NE(mine, nullptr);
    Executor* const nested = RunLoop::run(inner());
    EXPECT_NE(nested, mine);
    EXPECT_EQ(Executor::current(), mine);
    co_return 1;
  };
  EXPECT_EQ(RunLoop::run(outer()), 1);
  EXPECT_EQ(Executor::current(), nullptr);
}

}  // namespace
}  // namespace kyanite
