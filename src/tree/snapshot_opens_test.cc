#include "tree/snapshot_opens.h"

#include <gtest/gtest.h>

namespace kyanite::tree {
namespace {

TEST(SnapshotOpens, EndWithTheirSnapshotOrShare) {
  SnapshotOpens opens;
  const auto one = opens.open(1, 1);
  const auto again = opens.open(1, 1);
  const auto two = opens.open(1, 2);
  const auto other = opens.open(2, 1);
  opens.end(1, 1);
  EXPECT_TRUE(one->over() && again->over());
  EXPECT_FALSE(two->over() || other->over());
  opens.end_share(1);
  EXPECT_TRUE(two->over());
  EXPECT_FALSE(other->over());
}

TEST(SnapshotOpens, BeginAnewInAShareThatIsRestored) {
  SnapshotOpens opens;
  const auto before = opens.open(1, 1);
  opens.end_share(1);
  const auto since = opens.open(1, 1);
  EXPECT_TRUE(before->over());
  EXPECT_FALSE(since->over());
  opens.end(1, 1);
  EXPECT_TRUE(since->over());
}

TEST(SnapshotOpens, ThatWereClosedAreForgotten) {
  SnapshotOpens opens;
  std::weak_ptr<const SnapshotLife> closed = opens.open(1, 1);
  EXPECT_TRUE(closed.expired());
  EXPECT_FALSE(opens.open(1, 1)->over());
}

TEST(SnapshotOpens, OfOneShareLeaveSomethingForOthers) {
  SnapshotOpens opens(4);
  auto one = opens.open(1, 1);
  const auto two = opens.open(1, 2);
  const auto copy = two;
  EXPECT_EQ(opens.open(1, 1), nullptr) << "a half";
  EXPECT_NE(opens.open(2, 1), nullptr);
  one.reset();
  EXPECT_NE(opens.open(1, 1), nullptr);
  opens.end_share(1);
  EXPECT_TRUE(two->over()) << "and counts until it is closed";
  const auto three = opens.open(1, 1);
  EXPECT_NE(three, nullptr);
  EXPECT_EQ(opens.open(1, 1), nullptr);
}

}  // namespace
}  // namespace kyanite::tree
