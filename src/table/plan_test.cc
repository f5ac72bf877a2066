#include "table/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "table/entity.h"

namespace kyanite::table {
namespace {

constexpr store::SpaceId kSpace = 7;

std::vector<store::Range> plan_of(std::string_view text) {
  const auto filter = Filter::parse(text);
  EXPECT_TRUE(filter) << text;
  return plan(kSpace, &*filter);
}

// The entities of a small table, "partition/row", that the ranges let through.
std::string let_through(const std::vector<store::Range>& ranges) {
  std::string out;
  for (const std::string_view partition : {"", "a", "b", "c"}) {
    for (const std::string_view row : {"", "1", "2", "20", "3"}) {
      const std::string key = store::Key(kSpace, kEntities, partition, row).bytes();
      const bool inside = std::any_of(ranges.begin(), ranges.end(),
                                      [&](const auto& range) { return range.contains(key); });
      if (inside) out.append(partition).append("/").append(row).append(" ");
    }
  }
  return out;
}

TEST(Plan, PinnedKeysBecomeRanges) {
  struct Case {
    std::string_view filter;
    std::string_view entities;
    size_t ranges;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"PartitionKey eq 'a'", "a/ a/1 a/2 a/20 a/3 ", 1},
           {"PartitionKey eq ''", "/ /1 /2 /20 /3 ", 1},
           {"'a' eq PartitionKey and RowKey eq '2'", "a/2 ", 1},
           {"PartitionKey eq 'a' and RowKey ge '2' and RowKey lt '3'", "a/2 a/20 ", 1},
           {"PartitionKey eq 'a' and RowKey gt '2'", "a/20 a/3 ", 1},
           {"PartitionKey eq 'a' and RowKey le '2'", "a/ a/1 a/2 ", 1},
           {"PartitionKey eq 'a' and (RowKey eq '1' or RowKey eq '3')", "a/1 a/3 ", 2},
           {"PartitionKey gt 'a' and PartitionKey lt 'c' and RowKey eq '1'", "b/ b/1 b/2 b/20 b/3 ",
            1},
           {"PartitionKey ge 'c'", "c/ c/1 c/2 c/20 c/3 ", 1},
           {"PartitionKey lt 'a'", "/ /1 /2 /20 /3 ", 1},
           {"PartitionKey eq 'a' and RowKey eq '1' or PartitionKey eq 'b' and RowKey eq '2'",
            "a/1 b/2 ", 2},
           {"PartitionKey eq 'a' and PartitionKey eq 'b'", "", 0},
           {"PartitionKey eq 5", "", 0},
           {"PartitionKey eq 'a' and Age gt 5", "a/ a/1 a/2 a/20 a/3 ", 1},
           {"PartitionKey eq 'a' and false", "", 0},
           {"PartitionKey eq 'a' or PartitionKey le 'a'", "/ /1 /2 /20 /3 a/ a/1 a/2 a/20 a/3 ",
            1}}) {
    const auto filter = Filter::parse(c.filter);
    ASSERT_TRUE(filter) << c.filter;
    const auto ranges = plan(kSpace, &*filter);
    EXPECT_EQ(let_through(ranges), c.entities) << c.filter;
    EXPECT_EQ(ranges.size(), c.ranges) << c.filter;
  }
}

TEST(Plan, WhatDoesNotPinScansTheTable) {
  const std::string all = let_through(plan(kSpace, nullptr));
  EXPECT_EQ(std::count(all.begin(), all.end(), ' '), 20);
  for (const std::string_view text :
       {"Age eq 5", "RowKey eq '1'", "PartitionKey ne 'a'", "not (PartitionKey eq 'a')",
        "PartitionKey eq 'a' or Age eq 5"}) {
    EXPECT_EQ(let_through(plan_of(text)), all) << text;
  }
}

TEST(Plan, ManyAlternativesStayBounded) {
  std::string text = "PartitionKey eq 'k'";
  for (int i = 0; i < 500; ++i) text += " or PartitionKey eq 'k" + std::to_string(i) + "'";
  EXPECT_EQ(plan_of(text).size(), 1U);
}

TEST(Plan, ConfinedToTheKeysOfASas) {
  struct Case {
    auth::KeyRange keys;
    std::string_view entities;
  };
  for (const Case& c :
       std::initializer_list<Case>{{{{}, {}, {}, {}}, "a/ a/1 a/2 a/20 a/3 b/ b/1 b/2 b/20 b/3 "},
                                   {{"a", "2", "b", "1"}, "a/2 a/20 a/3 b/ b/1 "},
                                   {{"b", {}, "b", {}}, "b/ b/1 b/2 b/20 b/3 "},
                                   {{{}, {}, "a", "1"}, "a/ a/1 "},
                                   {{"c", {}, {}, {}}, ""}}) {
    const auto filter = Filter::parse("PartitionKey eq 'a' or PartitionKey eq 'b'");
    const auto ranges = confine(plan(kSpace, &*filter), kSpace, c.keys);
    EXPECT_EQ(let_through(ranges), c.entities);
    for (const std::string_view partition : {"a", "b"}) {
      for (const std::string_view row : {"", "1", "2", "20", "3"}) {
        const std::string name = std::string(partition) + "/" + std::string(row) + " ";
        EXPECT_EQ(c.keys.contains(partition, row), c.entities.find(name) != std::string_view::npos);
      }
    }
  }
}

TEST(Plan, StartsAtTheToken) {
  EXPECT_EQ(let_through(start_at(plan(kSpace, nullptr), kSpace, "c", "20")), "c/20 c/3 ");
}

}  // namespace
}  // namespace kyanite::table
