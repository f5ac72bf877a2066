#include "concurrency/append_position.h"

#include <gtest/gtest.h>

namespace kyanite::concurrency {
namespace {

TEST(AppendPosition, Conditions) {
  struct Row {
    const char* what;
    AppendConditions conditions;
    uint64_t size, added;
    std::optional<AppendError> error;
  };
  const Row rows[] = {
      {"none", {}, 1024, 512, {}},
      {"at the end", {1024, {}}, 1024, 512, {}},
      {"at the start of an empty blob", {0, {}}, 0, 512, {}},
      {"before the end", {512, {}}, 1024, 512, AppendError::kPositionNotMet},
      {"past the end", {1025, {}}, 1024, 512, AppendError::kPositionNotMet},
      {"fills up to the limit", {{}, 1536}, 1024, 512, {}},
      {"nothing more at the limit", {{}, 1024}, 1024, 0, {}},
      {"one past the limit", {{}, 1535}, 1024, 512, AppendError::kMaxSizeNotMet},
      {"already past the limit", {{}, 1023}, 1024, 0, AppendError::kMaxSizeNotMet},
      {"sum wraps around", {{}, 1023}, UINT64_MAX, 2, AppendError::kMaxSizeNotMet},
      {"addition wraps around", {{}, 1023}, 2, UINT64_MAX, AppendError::kMaxSizeNotMet},
      {"both hold", {1024, 1536}, 1024, 512, {}},
      {"both fail", {512, 1535}, 1024, 512, AppendError::kPositionNotMet},
  };
  for (const Row& row : rows) {
    auto result = check_append(row.conditions, row.size, row.added);
    EXPECT_EQ(result.ok(), !row.error) << row.what;
    if (!result.ok() && row.error) {
      EXPECT_EQ(result.error(), *row.error) << row.what;
    }
  }
}

}  // namespace
}  // namespace kyanite::concurrency
