#include "base/fair_counts.h"

#include <gtest/gtest.h>

namespace kyanite {
namespace {

TEST(FairCounts, LeaveSomethingForOthers) {
  FairCounts<int> counts(8);
  EXPECT_TRUE(counts.add(1, 4));
  EXPECT_FALSE(counts.add(1)) << "a half";
  EXPECT_TRUE(counts.add(2, 2));
  EXPECT_FALSE(counts.add(2)) << "no more than is left";
  EXPECT_TRUE(counts.add(3));
  counts.remove(1, 3);
  EXPECT_TRUE(counts.add(2));
  EXPECT_FALSE(counts.add(4, 9));
  EXPECT_EQ(counts.total(), 5u);
  counts.remove(1);
  counts.remove(2, 3);
  counts.remove(3);
  EXPECT_TRUE(counts.add(5, 4));
}

TEST(FairCounts, OwnersThatAreManyHaveMore) {
  FairCounts<int> counts(8, 3);
  EXPECT_TRUE(counts.add(1, 6));
  EXPECT_FALSE(counts.add(1)) << "three quarters";
  EXPECT_TRUE(counts.add(2, 2));
  EXPECT_FALSE(counts.add(3));
}

}  // namespace
}  // namespace kyanite
