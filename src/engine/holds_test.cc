#include "engine/holds.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace kyanite::engine {
namespace {

TEST(Holds, NobodyToWaitFor) {
  Holds holds;
  EXPECT_TRUE(holds.wait_for_earlier());
  { auto hold = holds.take(); }
  EXPECT_TRUE(holds.wait_for_earlier());
}

TEST(Holds, WaitsForEarlierOnesOnly) {
  Holds holds;
  auto earlier = holds.take();
  std::atomic<bool> waited{false};
  std::thread waiter([&] {
    EXPECT_TRUE(holds.wait_for_earlier());
    waited = true;
  });
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(waited);
    std::this_thread::yield();
  }
  auto copy = earlier;
  earlier = {};
  EXPECT_FALSE(waited);
  copy = {};
  waiter.join();
  EXPECT_TRUE(waited);
}

TEST(Holds, StopEndsTheWait) {
  Holds holds;
  auto hold = holds.take();
  std::thread waiter([&] { EXPECT_FALSE(holds.wait_for_earlier()); });
  holds.stop();
  waiter.join();
}

TEST(Holds, MayOutliveTheirMaker) {
  store::Hold hold;
  {
    Holds holds;
    hold = holds.take();
  }
  hold = {};
}

TEST(Holds, ManyThreadsTakeWhileOneWaits) {
  Holds holds;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!stop) auto hold = holds.take();
    });
  }
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(holds.wait_for_earlier());
  stop = true;
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace kyanite::engine
