#include "net/patience.h"

#include <gtest/gtest.h>

namespace kyanite::net {
namespace {

using std::chrono::seconds;

TEST(Patience, EndsForAPeerThatMovesNothing) {
  Patience patience(seconds(60), 512);
  patience.waited(59'999);
  EXPECT_GT(patience.left_ms(), 0);
  patience.waited(1);
  EXPECT_LE(patience.left_ms(), 0);
}

TEST(Patience, OneByteNowAndThenDoesNotKeepIt) {
  Patience patience(seconds(60), 512);
  int waits = 0;
  while (patience.left_ms() > 0) {
    patience.waited(1'000);
    patience.moved(1);
    ++waits;
  }
  EXPECT_LE(waits, 61);
}

TEST(Patience, TheLeastRateKeepsIt) {
  Patience patience(seconds(60), 512);
  for (int i = 0; i < 100'000; ++i) {
    patience.waited(1'000);
    patience.moved(512);
  }
  EXPECT_GT(patience.left_ms(), 0);
  for (int i = 0; i < 100'000 && patience.left_ms() > 0; ++i) {
    patience.waited(1'000);
    patience.moved(511);
  }
  EXPECT_LE(patience.left_ms(), 0);
}

TEST(Patience, IsNeverMoreThanAtFirst) {
  Patience patience(seconds(60), 512);
  patience.moved(~uint64_t{0});
  EXPECT_EQ(patience.left_ms(), 60'000);
  patience.waited(70'000);
  patience.renew();
  EXPECT_EQ(patience.left_ms(), 60'000);
}

}  // namespace
}  // namespace kyanite::net
