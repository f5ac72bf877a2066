#include "store/locks.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "store/test_support.h"

namespace kyanite::store {
namespace {

Task<bool> take_and_release(KeyedLocks& locks, std::string key) {
  auto turn = co_await locks.lock(std::move(key));
  co_return turn.owns();
}

TEST(KeyedLocks, FreeLocksAreTakenAtOnceAndAgain) {
  KeyedLocks locks;
  EXPECT_TRUE(RunLoop::run(take_and_release(locks, "a")));
  EXPECT_TRUE(RunLoop::run(take_and_release(locks, "a")));
}

TEST(KeyedLocks, WaitersComeInOrderAndNotFromWithinRelease) {
  KeyedLocks locks;
  std::vector<int> order;
  auto wait = [&](int who) -> Task<void> {
    auto turn = co_await locks.lock("key");
    order.push_back(who);
  };
  auto first = [&]() -> Task<void> {
    std::vector<Task<void>> waiting;
    auto turn = co_await locks.lock("key");
    for (int i = 0; i < 5; ++i) waiting.push_back(wait(i));
    auto release = [&]() -> Task<void> {
      EXPECT_TRUE(order.empty());
      turn.release();
      EXPECT_TRUE(order.empty());
      co_return;
    };
    waiting.push_back(release());
    co_await all(std::move(waiting));
  };
  RunLoop::run(first());
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
}

TEST(KeyedLocks, OtherKeysDoNotWait) {
  KeyedLocks locks;
  auto both = [&]() -> Task<bool> {
    auto one = co_await locks.lock("one");
    auto two = co_await locks.lock("two");
    KeyedLocks::Turn moved = std::move(one);
    EXPECT_FALSE(one.owns());
    moved = std::move(two);  // Releases "one".
    auto again = co_await locks.lock("one");
    co_return again.owns() && moved.owns();
  };
  EXPECT_TRUE(RunLoop::run(both()));
}

TEST(KeyedLocks, ExcludesAcrossThreads) {
  constexpr int kThreads = 4;
  constexpr int kCoroutines = 10;
  constexpr int kRounds = 100;
  KeyedLocks locks;
  int counts[3] = {};  // Plain: only the locks make this safe.
  auto add = [&](size_t which) -> Task<void> {
    for (int i = 0; i < kRounds; ++i) {
      auto turn = co_await locks.lock(std::to_string(which));
      ++counts[which];
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      std::vector<Task<void>> tasks;
      for (size_t i = 0; i < kCoroutines; ++i) tasks.push_back(add(i % 2));
      RunLoop::run(all(std::move(tasks)));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(counts[0] + counts[1], kThreads * kCoroutines * kRounds);
}

}  // namespace
}  // namespace kyanite::store
