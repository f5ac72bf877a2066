// Tells a torn write-ahead log from a damaged one.
//
// RocksDB takes a log up to the first record that is not whole and drops what follows without a
// word. That is right for the commit that was being written when the process or the power went: it
// was never acknowledged, and nothing follows it, because a commit is synced before the next is
// written. A record that is not whole although others follow it was acknowledged and is damaged;
// going on would lose it and all that follow for good.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kyanite::engine {

// Where the log, given whole, is damaged; nothing when all its records are whole but for a torn
// one at its end.
std::optional<uint64_t> find_damage(std::string_view log);

}  // namespace kyanite::engine
