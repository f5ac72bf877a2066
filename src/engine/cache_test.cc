#include "engine/cache.h"

#include <gtest/gtest.h>

#include "store/test_support.h"

namespace kyanite::engine {
namespace {

using store::record_of;

void commit(RecordCache& cache, std::string_view key, const store::RecordPtr& record) {
  cache.begin_write(key);
  cache.put(key, record);
}

TEST(RecordCache, KnowsWhatWasPutAbsenceIncluded) {
  RecordCache cache(1 << 20);
  EXPECT_FALSE(cache.find("a").known);
  commit(cache, "a", record_of("1"));
  EXPECT_EQ(cache.find("a").record->value, "1");
  commit(cache, "a", nullptr);
  EXPECT_FALSE(cache.find("a").known);
  EXPECT_EQ(cache.bytes(), 0u);
  cache.fill("a", nullptr, cache.find("a").version);
  EXPECT_TRUE(cache.find("a").known);
  EXPECT_EQ(cache.find("a").record, nullptr);
  EXPECT_EQ(cache.hits(), 3u);
  EXPECT_EQ(cache.misses(), 3u);
}

TEST(RecordCache, AFillThatACommitOvertookIsDropped) {
  RecordCache cache(1 << 20);
  const auto before = cache.find("a");
  commit(cache, "a", record_of("new"));
  cache.fill("a", record_of("old"), before.version);
  EXPECT_EQ(cache.find("a").record->value, "new");
  // Also when the new record has been forgotten again.
  const auto again = cache.find("b");
  commit(cache, "b", record_of("new"));
  cache.distrust();
  cache.trust();
  cache.fill("b", record_of("old"), again.version);
  EXPECT_FALSE(cache.find("b").known);
}

TEST(RecordCache, AnUndisturbedFillIsKept) {
  RecordCache cache(1 << 20);
  cache.fill("a", record_of("1"), cache.find("a").version);
  EXPECT_EQ(cache.find("a").record->value, "1");
}

TEST(RecordCache, WhatIsBeingWrittenIsNotKnown) {
  RecordCache cache(1 << 20);
  commit(cache, "a", record_of("old"));
  const auto absent = cache.find("b");
  cache.begin_write("a");
  cache.begin_write("b");
  EXPECT_FALSE(cache.find("a").known);
  // Whoever reads the database now may see it as it was or as it will be.
  cache.fill("a", record_of("old"), cache.find("a").version);
  cache.fill("b", nullptr, cache.find("b").version);
  cache.fill("b", nullptr, absent.version);
  EXPECT_FALSE(cache.find("a").known);
  EXPECT_FALSE(cache.find("b").known);
  const auto during = cache.find("b");
  cache.put("a", record_of("new"));
  cache.put("b", record_of("new"));
  cache.fill("b", nullptr, during.version);
  EXPECT_EQ(cache.find("a").record->value, "new");
  EXPECT_EQ(cache.find("b").record->value, "new");
}

TEST(RecordCache, AWriteThatFailedLeavesNothingBehind) {
  RecordCache cache(1 << 20);
  commit(cache, "a", record_of("old"));
  cache.begin_write("a");
  cache.distrust();
  cache.trust();
  const auto after = cache.find("a");
  EXPECT_FALSE(after.known);
  cache.fill("a", record_of("old"), after.version);
  EXPECT_EQ(cache.find("a").record->value, "old");
}

TEST(RecordCache, NothingIsTakenFromADatabaseInDoubt) {
  RecordCache cache(1 << 20);
  const auto before = cache.find("a");
  cache.distrust();
  const auto during = cache.find("a");
  cache.fill("a", record_of("old"), during.version);
  EXPECT_FALSE(cache.find("a").known);
  // Nor when whoever has read from it comes late.
  cache.trust();
  cache.fill("a", record_of("old"), before.version);
  cache.fill("a", record_of("old"), during.version);
  EXPECT_FALSE(cache.find("a").known);
}

TEST(RecordCache, KeepsToItsBudgetAndPrefersWhatIsUsed) {
  constexpr size_t kBudget = 64 * 64 * 1024;
  RecordCache cache(kBudget);
  for (int i = 0; i < 10; ++i) commit(cache, "hot " + std::to_string(i), record_of("v"));
  for (int i = 0; i < 100'000; ++i) {
    commit(cache, "cold " + std::to_string(i), record_of(std::string(100, 'v')));
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
  commit(cache, "a", record_of(std::string(1 << 20, 'v')));
  EXPECT_FALSE(cache.find("a").known);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(RecordCache, OverwritingKeepsTheBooks) {
  RecordCache cache(1 << 20);
  commit(cache, "a", record_of("v"));
  const auto small = cache.bytes();
  commit(cache, "a", record_of(std::string(1000, 'v')));
  commit(cache, "a", record_of("v"));
  EXPECT_EQ(cache.bytes(), small);
}

}  // namespace
}  // namespace kyanite::engine
