// Sequence numbers of page blobs: conditions on them and the actions of Set Blob Properties.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace kyanite::concurrency {

inline constexpr uint64_t kMaxSequenceNumber = INT64_MAX;

// x-ms-if-sequence-number-{le,lt,eq}. Those present must all hold.
struct SequenceConditions {
  std::optional<uint64_t> at_most;
  std::optional<uint64_t> less_than;
  std::optional<uint64_t> equal;
};

// False: 412 SequenceNumberConditionNotMet.
bool sequence_conditions_met(const SequenceConditions& conditions, uint64_t current);

enum class SequenceAction { kMax, kUpdate, kIncrement };

enum class SequenceError {
  kValueMissing,     // max and update need x-ms-blob-sequence-number: 400
  kValueNotAllowed,  // increment takes none: 400
  kValueOutOfRange,  // above kMaxSequenceNumber: 400
  kOverflow,         // 409 SequenceNumberIncrementTooLarge
};

// The number after the action.
Result<uint64_t, SequenceError> apply_sequence_action(SequenceAction action, uint64_t current,
                                                      std::optional<uint64_t> value);

}  // namespace kyanite::concurrency
