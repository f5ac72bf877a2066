#include "server/background.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

namespace kyanite::server {
namespace {

TEST(Background, RunsAgainAndAgainUntilDestroyed) {
  std::counting_semaphore<> ran(0);
  Background background(std::chrono::milliseconds(1), [&]() -> Task<void> {
    ran.release();
    co_return;
  });
  for (int i = 0; i < 3; ++i) ran.acquire();
}

TEST(Background, StopsAtOnceBetweenRuns) {
  std::atomic<int> runs = 0;
  {
    Background background(std::chrono::hours(1), [&]() -> Task<void> {
      ++runs;
      co_return;
    });
  }
  EXPECT_EQ(runs, 0);
}

}  // namespace
}  // namespace kyanite::server
