#include "store/key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace kyanite::store {
namespace {
using namespace std::string_literals;

TEST(Key, PartsComeBack) {
  struct Case {
    SpaceId space;
    Family family;
    std::string partition;
    std::string row;
  };
  const std::vector<Case> cases = {
      {1, 'h', "name", "row"},      {0xffffffffffffffff, '\0', "", ""},
      {42, '\xff', "\0"s, "\0\1"s}, {42, 'x', "a\0b\0\0"s, "\0\xff"s},
      {42, 'x', "\xff\1\0\1"s, ""},
  };
  for (const auto& each : cases) {
    const Key key(each.space, each.family, each.partition, each.row);
    EXPECT_EQ(key.space(), each.space);
    EXPECT_EQ(key.family(), each.family);
    EXPECT_EQ(key.partition(), each.partition);
    EXPECT_EQ(key.row(), each.row);
    EXPECT_EQ(Key::from_bytes(key.bytes()), key);
  }
}

TEST(Key, ByteOrderIsSpaceFamilyPartitionRow) {
  const std::vector<Key> ordered = {
      Key(1, 'a', "", ""),     Key(1, 'a', "", "z"),      Key(1, 'a', "\0"s, ""),
      Key(1, 'a', "a", ""),    Key(1, 'a', "a", "\0"s),   Key(1, 'a', "a", "\xff"),
      Key(1, 'a', "a\0"s, ""), Key(1, 'a', "a\0\0"s, ""), Key(1, 'a', "a\0\1"s, ""),
      Key(1, 'a', "a\1", ""),  Key(1, 'a', "aa", ""),     Key(1, 'b', "", ""),
      Key(256, 'a', "", ""),
  };
  EXPECT_TRUE(std::is_sorted(ordered.begin(), ordered.end()));
  EXPECT_EQ(std::adjacent_find(ordered.begin(), ordered.end()), ordered.end());
}

TEST(Key, PartitionsAreTheSameAcrossFamilies) {
  const Key key(1, 'a', "p", "x");
  EXPECT_TRUE(key.same_partition(Key(1, 'b', "p", "y")));
  EXPECT_FALSE(key.same_partition(Key(2, 'a', "p", "x")));
  EXPECT_FALSE(key.same_partition(Key(1, 'a', "px", "")));
  EXPECT_FALSE(key.same_partition(Key(1, 'a', "", "p")));
}

bool inside(const Range& range, const Key& key) { return range.contains(key.bytes()); }

TEST(Range, HoldsExactlyWhatItNames) {
  const Key key(5, 'f', "partition", "row");
  EXPECT_TRUE(inside(Range::space(5), key));
  EXPECT_FALSE(inside(Range::space(4), key));
  EXPECT_FALSE(inside(Range::space(6), key));
  EXPECT_TRUE(inside(Range::family(5, 'f'), key));
  EXPECT_FALSE(inside(Range::family(5, 'e'), key));
  EXPECT_TRUE(inside(Range::family(5, '\xff'), Key(5, '\xff', "x")));
  EXPECT_TRUE(inside(Range::partition_prefix(5, 'f', "part"), key));
  EXPECT_FALSE(inside(Range::partition_prefix(5, 'f', "parts"), key));
  EXPECT_TRUE(inside(Range::partition_prefix(5, 'f', "\xff"), Key(5, 'f', "\xff\xff")));
  EXPECT_TRUE(inside(Range::rows(5, 'f', "partition"), key));
  EXPECT_FALSE(inside(Range::rows(5, 'f', "part"), key));
  EXPECT_TRUE(inside(Range::rows(5, 'f', "partition", "ro"), key));
  EXPECT_FALSE(inside(Range::rows(5, 'f', "partition", "rows"), key));
}

TEST(Range, IsMadeSmallerButNeverReachesBeyondItself) {
  const auto at = [](std::string_view partition) { return Key(5, 'f', partition).bytes(); };
  Range range = Range::family(5, 'f');
  EXPECT_EQ(range.space(), 5u);
  range.start_at(at("b"));
  range.start_at(at("a"));
  range.end_before(at("d"));
  range.end_before(at("e"));
  EXPECT_EQ(range.from(), at("b"));
  EXPECT_EQ(range.to(), at("d"));
  EXPECT_FALSE(range.empty());
  for (const auto& beyond : {Key(5, 'g', "a").bytes(), Key(6, 'f', "a").bytes(), at("d")}) {
    Range nothing = range;
    nothing.start_at(beyond);
    EXPECT_TRUE(nothing.empty());
    EXPECT_EQ(nothing.to(), range.to());
  }
  Range nothing = range;
  nothing.end_before(Key(4, 'f', "a").bytes());
  EXPECT_TRUE(nothing.empty());
  EXPECT_EQ(nothing.from(), range.from());
}

TEST(Range, JoinsWhatMeetsIt) {
  const auto part = [](std::string_view from, std::string_view to) {
    Range range = Range::family(5, 'f');
    range.start_at(Key(5, 'f', from).bytes());
    range.end_before(Key(5, 'f', to).bytes());
    return range;
  };
  struct Case {
    Range next;
    bool joins;
    std::string_view to;
  };
  const Case cases[] = {{part("b", "d"), true, "d"},
                        {part("c", "d"), true, "d"},
                        {part("b", "bb"), true, "c"},
                        {part("ca", "d"), false, "c"}};
  for (const auto& each : cases) {
    Range range = part("a", "c");
    EXPECT_EQ(range.join(each.next), each.joins);
    EXPECT_EQ(range.to(), Key(5, 'f', each.to).bytes());
  }
}

TEST(AfterPrefix, IsTheFirstStringBeyond) {
  EXPECT_EQ(after_prefix("a"), "b");
  EXPECT_EQ(after_prefix("a\xff"), "b");
  EXPECT_EQ(after_prefix("\xff\xff"), "");
  EXPECT_EQ(after_prefix(""), "");
}

TEST(AfterPartition, SkipsItsRowsAndNothingElse) {
  const std::string next = after_partition(1, 'f', "a");
  EXPECT_GT(next, Key(1, 'f', "a", "\xff\xff\xff").bytes());
  EXPECT_LE(next, Key(1, 'f', "a\0"s, "").bytes());
  EXPECT_LT(next, Key(1, 'f', "a\1", "").bytes());
}

}  // namespace
}  // namespace kyanite::store
