// Limits of the open-file table (tree/open_files.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace kyanite::tree {

// Azure's limits for one file or directory, and for the root of a share.
inline constexpr size_t kMaxHandlesPerFile = 2000;
inline constexpr size_t kMaxHandlesOfRoot = 10'000;
// Locks of one file that are held, and those that wait for others.
inline constexpr size_t kMaxLocksPerFile = 8192;
inline constexpr size_t kMaxWaitingLocks = 1000;
// Of all files together, of which one share has a half at most (base/fair_counts.h).
inline constexpr size_t kMaxHandles = 256 * 1024;
inline constexpr size_t kMaxLocks = 1024 * 1024;
// The same of what snapshots show.
inline constexpr size_t kMaxShownOpens = 64 * 1024;
// Handles below a directory whose clients are asked to give them up when it is moved.
inline constexpr size_t kMaxReleasedHandles = 16384;
// Handles that wait for their clients to come back, of all files together, too.
inline constexpr size_t kMaxParkedHandles = 32 * 1024;
// How often a REST operation waits for what was written under locks that come and go.
inline constexpr int kMostLooksAtLocks = 8;
// How long a REST operation waits at most for clients to give back what they cache.
inline constexpr int64_t kCacheFlushSeconds = 30;

}  // namespace kyanite::tree
