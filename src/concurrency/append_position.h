// Conditions of Append Block and Seal on the size of an append blob.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace kyanite::concurrency {

struct AppendConditions {
  std::optional<uint64_t>
      position;  // x-ms-blob-condition-appendpos: the blob is exactly this long.
  std::optional<uint64_t> max_size;  // x-ms-blob-condition-maxsize: it will be no longer than this.
};

enum class AppendError {
  kPositionNotMet,  // 412 AppendPositionConditionNotMet
  kMaxSizeNotMet,   // 412 MaxBlobSizeConditionNotMet
};

// Whether `added` bytes may be appended to a blob of `size` bytes. The position is looked at first.
Result<void, AppendError> check_append(const AppendConditions& conditions, uint64_t size,
                                       uint64_t added);

}  // namespace kyanite::concurrency
