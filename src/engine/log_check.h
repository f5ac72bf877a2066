// Tells a torn write-ahead log from a damaged one.
//
// RocksDB takes a log up to the first record that is not whole and drops what follows without a
// word. That is right for the commit that was being written when the process or the power went: it
// was never acknowledged, and nothing follows it, because a commit is synced before the next is
// written. A record that is not whole although others follow it, in its log or in the next one, was
// acknowledged and is damaged; going on would lose it and all that follow for good.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kyanite::engine {

struct LogCheck {
  // Where the log is damaged; nothing when all its records are whole but for a torn one at its end.
  std::optional<uint64_t> damage;
  // Every write of every commit has a number, counted through all logs: that of the first write
  // here, if there is one, and the one after the last write of the whole records.
  std::optional<uint64_t> first;
  uint64_t next = 0;
  // Where the first record begins that is not whole, or the zeros do, or the log ends.
  uint64_t end = 0;
};

// `log` is all of one.
LogCheck check_log(std::string_view log);

}  // namespace kyanite::engine
