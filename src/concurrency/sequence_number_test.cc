#include "concurrency/sequence_number.h"

#include <gtest/gtest.h>

namespace kyanite::concurrency {
namespace {

TEST(SequenceNumber, Conditions) {
  struct Row {
    const char* what;
    SequenceConditions conditions;
    bool at_9, at_10, at_11;
  };
  const Row rows[] = {
      {"none", {}, true, true, true},
      {"le 10", {10, {}, {}}, true, true, false},
      {"lt 10", {{}, 10, {}}, true, false, false},
      {"eq 10", {{}, {}, 10}, false, true, false},
      {"le 10 and lt 10", {10, 10, {}}, true, false, false},
      {"le 10 and eq 9", {10, {}, 9}, true, false, false},
      {"lt 0", {{}, 0, {}}, false, false, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(sequence_conditions_met(row.conditions, 9), row.at_9) << row.what;
    EXPECT_EQ(sequence_conditions_met(row.conditions, 10), row.at_10) << row.what;
    EXPECT_EQ(sequence_conditions_met(row.conditions, 11), row.at_11) << row.what;
  }
}

TEST(SequenceNumber, ActionsThatSucceed) {
  struct Row {
    SequenceAction action;
    uint64_t current;
    std::optional<uint64_t> value;
    uint64_t expected;
  };
  const Row rows[] = {
      {SequenceAction::kMax, 5, 7, 7},
      {SequenceAction::kMax, 7, 5, 7},
      {SequenceAction::kMax, 7, 7, 7},
      {SequenceAction::kUpdate, 5, 7, 7},
      {SequenceAction::kUpdate, 7, 5, 5},
      {SequenceAction::kUpdate, 7, 0, 0},
      {SequenceAction::kUpdate, 7, kMaxSequenceNumber, kMaxSequenceNumber},
      {SequenceAction::kIncrement, 0, {}, 1},
      {SequenceAction::kIncrement, kMaxSequenceNumber - 1, {}, kMaxSequenceNumber},
  };
  for (const Row& row : rows) {
    auto result = apply_sequence_action(row.action, row.current, row.value);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(*result, row.expected);
  }
}

TEST(SequenceNumber, ActionsThatFail) {
  struct Row {
    SequenceAction action;
    uint64_t current;
    std::optional<uint64_t> value;
    SequenceError error;
  };
  const Row rows[] = {
      {SequenceAction::kMax, 5, {}, SequenceError::kValueMissing},
      {SequenceAction::kUpdate, 5, {}, SequenceError::kValueMissing},
      {SequenceAction::kMax, 5, kMaxSequenceNumber + 1, SequenceError::kValueOutOfRange},
      {SequenceAction::kUpdate, 5, kMaxSequenceNumber + 1, SequenceError::kValueOutOfRange},
      {SequenceAction::kIncrement, 5, 6, SequenceError::kValueNotAllowed},
      {SequenceAction::kIncrement, kMaxSequenceNumber, {}, SequenceError::kOverflow},
  };
  for (const Row& row : rows) {
    auto result = apply_sequence_action(row.action, row.current, row.value);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error(), row.error);
  }
}

}  // namespace
}  // namespace kyanite::concurrency
