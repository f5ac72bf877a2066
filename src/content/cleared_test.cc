#include "content/cleared.h"

#include <gtest/gtest.h>

#include "content/byte_runs.h"
#include "content/test_support.h"

namespace kyanite::content {
namespace {

std::string show(const ClearedRuns& runs) {
  std::string text;
  for (const auto& run : runs) {
    text += std::to_string(run.start) + "-" + std::to_string(run.end) + "@" +
            std::to_string(run.since) + " ";
  }
  return text;
}

TEST(Cleared, LaterOnesTakeThePlaceOfEarlierOnes) {
  struct Row {
    uint64_t start, end, since;
    const char* runs;
  };
  const Row rows[] = {
      {10, 20, 1, "10-20@1 "},
      {20, 30, 1, "10-30@1 "},                          // touches
      {40, 50, 1, "10-30@1 40-50@1 "},                  // apart
      {15, 18, 2, "10-15@1 15-18@2 18-30@1 40-50@1 "},  // within
      {0, 12, 2, "0-12@2 12-15@1 15-18@2 18-30@1 40-50@1 "},
      {12, 15, 2, "0-18@2 18-30@1 40-50@1 "},  // between two of its own
      {5, 5, 3, "0-18@2 18-30@1 40-50@1 "},    // nothing
      {0, 100, 3, "0-100@3 "},
  };
  ClearedRuns runs;
  for (const Row& row : rows) {
    note_cleared(runs, row.start, row.end, row.since);
    EXPECT_EQ(show(runs), row.runs);
  }
}

TEST(Cleared, FewRunsOfWhichNoneIsForgotten) {
  ClearedRuns runs;
  for (uint64_t i = 0; i < 10 * kMaxClearedRuns; ++i) note_cleared(runs, 10 * i, 10 * i + 5, i + 1);
  EXPECT_LE(runs.size(), kMaxClearedRuns);
  for (uint64_t i = 0; i < 10 * kMaxClearedRuns; ++i) {
    bool covered = false;
    for (const auto& run : runs)
      covered |= run.start <= 10 * i && run.end >= 10 * i + 5 && run.since >= i + 1;
    EXPECT_TRUE(covered) << i;
  }
}

TEST(Cleared, IsAskedForByTime) {
  ClearedRuns runs{{0, 1, 1}, {1, 2, 2}, {2, 3, 3}};
  EXPECT_EQ(show(cleared_after(runs, 1)), "1-2@2 2-3@3 ");
  EXPECT_EQ(show(cleared_after(runs, 3)), "");
  forget_cleared(runs, 2);
  EXPECT_EQ(show(runs), "2-3@3 ");
}

TEST(Cleared, CountsInDifferencesWhereNothingIsWritten) {
  store::MemoryStore store;
  const Pieces before{inline_piece(0, "abcde")};
  const Pieces after{inline_piece(8, "xy")};
  const auto runs = RunLoop::run(difference(store, before, after, 0, 30, {{4, 9, 1}, {20, 22, 1}}));
  ASSERT_TRUE(runs.ok());
  std::string text;
  for (const auto& run : *runs) {
    text += (run.clear ? "clear " : "write ") + std::to_string(run.start) + "-" +
            std::to_string(run.end) + " ";
  }
  EXPECT_EQ(text, "clear 0-8 write 8-10 clear 20-22 ");
}

}  // namespace
}  // namespace kyanite::content
