#include "concurrency/sequence_number.h"

#include <algorithm>

namespace kyanite::concurrency {

bool sequence_conditions_met(const SequenceConditions& conditions, uint64_t current) {
  if (conditions.at_most && current > *conditions.at_most) return false;
  if (conditions.less_than && current >= *conditions.less_than) return false;
  if (conditions.equal && current != *conditions.equal) return false;
  return true;
}

Result<uint64_t, SequenceError> apply_sequence_action(SequenceAction action, uint64_t current,
                                                      std::optional<uint64_t> value) {
  if (action == SequenceAction::kIncrement) {
    if (value) return SequenceError::kValueNotAllowed;
    if (current >= kMaxSequenceNumber) return SequenceError::kOverflow;
    return current + 1;
  }
  if (!value) return SequenceError::kValueMissing;
  if (*value > kMaxSequenceNumber) return SequenceError::kValueOutOfRange;
  return action == SequenceAction::kMax ? std::max(current, *value) : *value;
}

}  // namespace kyanite::concurrency
