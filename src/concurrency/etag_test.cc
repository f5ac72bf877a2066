#include "concurrency/etag.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace kyanite::concurrency {
namespace {

constexpr Time kChanged{0x8DA7CBC1D6451F1};

TEST(ETag, IsTheTickCountInUpperCaseHex) {
  EXPECT_EQ(ETag{kChanged}.quoted(), "\"0x8DA7CBC1D6451F1\"");
  EXPECT_EQ(ETag{kChanged}.unquoted(), "0x8DA7CBC1D6451F1");
}

// Against the way that takes one digit after the other.
TEST(ETag, EveryDigitAndLength) {
  std::vector<int64_t> counts = {
      1, 9, 10, 15, 16, 255, INT64_MAX, 0x0123456789abcdef, 0x7edcba9876543210};
  for (int shift = 0; shift < 60; ++shift) {
    for (int64_t digit = 1; digit < 16; ++digit) counts.push_back(digit << shift & INT64_MAX);
  }
  for (const int64_t ticks : counts) {
    if (ticks == 0) continue;
    char expected[20];
    std::snprintf(expected, sizeof expected, "0x%llX", static_cast<unsigned long long>(ticks));
    EXPECT_EQ(ETag{Time{ticks}}.unquoted(), expected);
  }
}

TEST(ETag, NextModifiedIsStrictlyIncreasing) {
  struct Row {
    const char* what;
    int64_t now, previous, expected;
  };
  constexpr int64_t kNow = kChanged.ticks;
  const Row rows[] = {
      {"new object", kNow, 0, kNow},
      {"clock moved on", kNow, kNow - 5, kNow},
      {"by one tick", kNow, kNow - 1, kNow},
      {"two writes in one tick", kNow, kNow, kNow + 1},
      {"three writes in one tick", kNow, kNow + 1, kNow + 2},
      {"clock set back an hour", kNow - 3600 * kTicksPerSecond, kNow, kNow + 1},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(next_modified(Time{row.now}, Time{row.previous}).ticks, row.expected) << row.what;
  }
}

TEST(TagList, ReadsWhatClientsSend) {
  const TagList::Tag strong{ETag{kChanged}, false};
  const TagList::Tag weak{ETag{kChanged}, true};
  const TagList::Tag other{ETag{Time{0x111111111111111}}, false};
  const TagList::Tag unknown{};
  struct Row {
    const char* text;
    std::vector<TagList::Tag> tags;
  };
  const Row rows[] = {
      {"\"0x8DA7CBC1D6451F1\"", {strong}},
      {"0x8DA7CBC1D6451F1", {strong}},
      {"  \"0x8DA7CBC1D6451F1\"\t", {strong}},
      {"W/\"0x8DA7CBC1D6451F1\"", {weak}},
      {"W/0x8DA7CBC1D6451F1", {weak}},
      {"0x111111111111111", {other}},
      {"\"0x8DA7CBC1D6451F1\",0x111111111111111", {strong, other}},
      {"0x111111111111111 , W/\"0x8DA7CBC1D6451F1\" ,\"x\"", {other, weak, unknown}},
      // Well formed, but tags that no object has.
      {"\"\"", {unknown}},
      {"\"*\"", {unknown}},
      {"\"a,b\"", {unknown}},
      {"abc", {unknown}},
      {"0x", {unknown}},
      {"0x0", {unknown}},
      {"0x-8DA7CBC1D6451F1", {unknown}},
      {"0x8da7cbc1d6451f1", {unknown}},
      {"0x08DA7CBC1D6451F1", {unknown}},
      {"0xFFFFFFFFFFFFFFFFF", {unknown}},
      {"0x8DA7CBC1D6451F1Z", {unknown}},
  };
  for (const Row& row : rows) {
    auto list = parse_tag_list(row.text);
    ASSERT_TRUE(list) << row.text;
    EXPECT_FALSE(list->any) << row.text;
    EXPECT_EQ(list->tags, row.tags) << row.text;
  }
}

TEST(TagList, ReadsTheWildcardOnlyAlone) {
  auto list = parse_tag_list(" * ");
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->any);
  EXPECT_TRUE(list->tags.empty());
}

TEST(TagList, RefusesWhatIsMalformed) {
  for (const char* text : {"", "  ", ",", "\"x\",", ",\"x\"", "\"x\" \"y\"", "\"x", "x\"", "W/",
                           "*,\"x\"", "\"x\",*", "**x,", "a b", "W/W/\"x\"\""}) {
    EXPECT_FALSE(parse_tag_list(text)) << text;
  }
}

TEST(TagList, ComparesStronglyAndWeakly) {
  struct Row {
    const char* text;
    bool strongly, weakly;
  };
  const Row rows[] = {
      {"\"0x8DA7CBC1D6451F1\"", true, true},
      {"W/\"0x8DA7CBC1D6451F1\"", false, true},
      {"\"0x1\", \"0x8DA7CBC1D6451F1\"", true, true},
      {"\"0x1\", W/\"0x8DA7CBC1D6451F1\"", false, true},
      {"\"0x8DA7CBC1D6451F2\"", false, false},
      {"\"x\"", false, false},
  };
  for (const Row& row : rows) {
    auto list = parse_tag_list(row.text);
    ASSERT_TRUE(list) << row.text;
    EXPECT_EQ(list->lists_strongly(ETag{kChanged}), row.strongly) << row.text;
    EXPECT_EQ(list->lists_weakly(ETag{kChanged}), row.weakly) << row.text;
  }
}

}  // namespace
}  // namespace kyanite::concurrency
