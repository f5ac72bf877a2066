// What deleted queues (containers, tables, shares) leave behind: spaces that no request can reach
// any more, whose records are removed in the background.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/task.h"
#include "store/store.h"

namespace kyanite::lifetime {

// The write that notes a space as dead, for the commit that takes it from its owner.
store::Write bury(std::string_view account, store::Family family, std::string_view owner,
                  store::SpaceId space, Time now);

// A request that still knows the space may commit to it for as long as it lasts, so an empty space
// is forgotten only after this; until then each pass looks again.
inline constexpr int64_t kForgetAfterSeconds = 3600;

struct Cleaned {
  uint64_t records = 0;  // removed from dead spaces
  uint64_t spaces = 0;   // forgotten for good
};

// One pass over the dead spaces that an account's directory notes in `family`. Removes at most
// `most` records, so that it can be stopped in between and goes on with the next pass.
Task<store::Result<Cleaned>> clean_dead_spaces(store::Store& store, std::string_view account,
                                               store::Family family, uint64_t most, Time now);

}  // namespace kyanite::lifetime
