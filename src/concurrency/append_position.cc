#include "concurrency/append_position.h"

namespace kyanite::concurrency {

Result<void, AppendError> check_append(const AppendConditions& conditions, uint64_t size,
                                       uint64_t added) {
  if (conditions.position && *conditions.position != size) return AppendError::kPositionNotMet;
  if (conditions.max_size) {
    // Subtractions, since a sum could wrap around.
    const uint64_t max_size = *conditions.max_size;
    if (size > max_size || added > max_size - size) return AppendError::kMaxSizeNotMet;
  }
  return {};
}

}  // namespace kyanite::concurrency
