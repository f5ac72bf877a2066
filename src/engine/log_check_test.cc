#include "engine/log_check.h"

#include <gtest/gtest.h>

#include "engine/test_log.h"

namespace kyanite::engine {
namespace {

TEST(LogCheck, NothingIsWrongWithAnEmptyLog) {
  for (const auto& log : {std::string(), std::string(100, '\0'), std::string(100'000, '\0')}) {
    const auto checked = check_log(log);
    EXPECT_FALSE(checked.damage);
    EXPECT_FALSE(checked.first);
  }
}

// Where records begin in their block, seen from its end: with room for all of their header, for
// parts of it, for nothing but the header of a fragment, and not even for that.
class AtTheEndOfABlock : public testing::TestWithParam<size_t> {
 protected:
  AtTheEndOfABlock() {
    log_.add(1, 100);
    constexpr size_t kHeaders = TestLog::kHeaderBytes + TestLog::kBatchHeaderBytes;
    log_.add(2, log_.room() - kHeaders - GetParam());
    damaged_at_ = log_.last_begin();
    log_.add(3, 50'000);
  }
  TestLog log_;
  size_t damaged_at_;  // The second of three records.
};

TEST_P(AtTheEndOfABlock, WritesAreCounted) {
  const auto checked = check_log(log_.bytes() + std::string(1000, '\0'));
  EXPECT_FALSE(checked.damage);
  EXPECT_EQ(checked.first, 1u);
  EXPECT_EQ(checked.next, 7u);
}

TEST_P(AtTheEndOfABlock, ATornRecordCountsNothing) {
  const auto checked = check_log(log_.bytes().substr(0, log_.bytes().size() - 1));
  EXPECT_FALSE(checked.damage);
  EXPECT_EQ(checked.next, 4u);
}

TEST_P(AtTheEndOfABlock, DamageBeforeARecordIsFound) {
  std::string bytes = log_.bytes();
  bytes[damaged_at_ + 1000] = 'y';
  EXPECT_EQ(check_log(bytes).damage, damaged_at_);
}

INSTANTIATE_TEST_SUITE_P(LogCheck, AtTheEndOfABlock,
                         testing::Values(0, 1, 6, 7, 8, 14, 18, 19, 20, 100));

}  // namespace
}  // namespace kyanite::engine
