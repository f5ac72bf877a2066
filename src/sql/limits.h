// What a query may cost, by name. Memory of a running query stays within a few times
// kMaxRecordBytes, whatever the blob and the expression are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kyanite::sql {

inline constexpr size_t kMaxExpressionBytes = 256 * 1024;  // Documented.
inline constexpr size_t kMaxSelected = 49;                 // Documented: columns that are named.
inline constexpr size_t kMaxNodes = 16 * 1024;             // Parts of an expression.
inline constexpr size_t kMaxDepth = 100;                   // Of expressions within expressions.
inline constexpr size_t kMaxPathSteps = 32;

inline constexpr size_t kMaxRecordBytes = 1024 * 1024;
inline constexpr size_t kMaxRecordFields = 16 * 1024;
inline constexpr size_t kMaxJsonValues = 32 * 1024;  // In one record.
inline constexpr size_t kMaxJsonDepth = 64;
inline constexpr size_t kMaxRowBytes = 4 * 1024 * 1024;  // Of a row as it is written.

// A row costs a unit for each part of the expressions it meets, and one for each byte these look
// at. The whole row is done on one thread without a pause, hence the limit.
inline constexpr uint64_t kMaxRowWork = 16 * 1024 * 1024;
// A step of the query ends when its rows have cost so much.
inline constexpr uint64_t kStepWork = 1024 * 1024;

inline constexpr size_t kFirstWanted = 3;  // Bytes that tell whether a byte order mark is first.
inline constexpr size_t kFrameBytes = 256 * 1024;            // Result data that is sent at once.
inline constexpr size_t kMaxErrorsHeld = 256;                // Errors of rows before they are sent.
inline constexpr uint64_t kProgressBytes = 4 * 1024 * 1024;  // Scanned from one report to the next.
inline constexpr uint64_t kMinSplitBytes = 10 * 1024 * 1024;  // Documented, of sys.split.

}  // namespace kyanite::sql
