// Times on the wire are FILETIMEs: ticks of 100 ns since 1601.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace kyanite::smb {

inline constexpr int64_t kFileTimeEpochTicks = 504'911'232'000'000'000;

// Before 1601 there is only 0, which says that a time is not known.
inline int64_t to_file_time(Time time) {
  return time.ticks > kFileTimeEpochTicks ? time.ticks - kFileTimeEpochTicks : 0;
}
// The last one of the year 9999.
inline constexpr int64_t kLastFileTime = 3'155'378'976'000'000'000 - kFileTimeEpochTicks - 1;
// Nothing for what is not a time of a file: 0 and less, or later than that.
std::optional<Time> from_file_time(int64_t file_time);

// How clients name a snapshot: @GMT-2026.11.17-00:42:40 with dots for the colons, in seconds.
inline constexpr size_t kSnapshotTokenChars = 24;
std::string snapshot_token(Time time);
std::optional<Time> parse_snapshot_token(std::string_view token);

}  // namespace kyanite::smb
