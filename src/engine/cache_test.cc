#include "engine/cache.h"

#include <gtest/gtest.h>

#include "store/test_support.h"

namespace kyanite::engine {
namespace {

using store::record_of;

TEST(RecordCache, KnowsWhatWasPutAbsenceIncluded) {
  RecordCache cache(1 << 20);
  EXPECT_FALSE(cache.find("a").known);
  cache.put("a", record_of("1"));
  EXPECT_EQ(cache.find("a").record->value, "1");
  cache.put("a", nullptr);
  EXPECT_TRUE(cache.find("a").known);
  EXPECT_EQ(cache.find("a").record, nullptr);
  EXPECT_EQ(cache.hits(), 3u);
  EXPECT_EQ(cache.misses(), 1u);
}

TEST(RecordCache, AFillThatACommitOvertookIsDropped) {
  RecordCache cache(1 << 20);
  const auto before = cache.find("a");
  cache.put("a", record_of("new"));
  cache.fill("a", record_of("old"), before.version);
  EXPECT_EQ(cache.find("a").record->value, "new");
  // Also when the new record has been forgotten again.
  const auto again = cache.find("b");
  cache.put("b", record_of("new"));
  cache.clear();
  cache.fill("b", record_of("old"), again.version);
  EXPECT_FALSE(cache.find("b").known);
}

TEST(RecordCache, AnUndisturbedFillIsKept) {
  RecordCache cache(1 << 20);
  cache.fill("a", record_of("1"), cache.find("a").version);
  EXPECT_EQ(cache.find("a").record->value, "1");
}

TEST(RecordCache, KeepsToItsBudgetAndPrefersWhatIsUsed) {
  constexpr size_t kBudget = 64 * 64 * 1024;
  RecordCache cache(kBudget);
  for (int i = 0; i < 10; ++i) cache.put("hot " + std::to_string(i), record_of("v"));
  for (int i = 0; i < 100'000; ++i) {
    cache.put("cold " + std::to_string(i), record_of(std::string(100, 'v')));
    if (i % 50 == 0) {
      for (int hot = 0; hot < 10; ++hot) {
        EXPECT_TRUE(cache.find("hot " + std::to_string(hot)).known);
      }
    }
  }
  EXPECT_LE(cache.bytes(), kBudget);
  EXPECT_GT(cache.bytes(), kBudget / 2);
  EXPECT_FALSE(cache.find("cold 0").known);
}

TEST(RecordCache, WhatIsLargerThanTheBudgetIsNotKept) {
  RecordCache cache(64 * 1024);
  cache.put("a", record_of(std::string(1 << 20, 'v')));
  EXPECT_FALSE(cache.find("a").known);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(RecordCache, OverwritingKeepsTheBooks) {
  RecordCache cache(1 << 20);
  cache.put("a", record_of("v"));
  const auto small = cache.bytes();
  cache.put("a", record_of(std::string(1000, 'v')));
  cache.put("a", record_of("v"));
  EXPECT_EQ(cache.bytes(), small);
}

}  // namespace
}  // namespace kyanite::engine
