// Removes what deleted containers left behind, in the background.
#pragma once

#include <cstdint>

#include "auth/account.h"
#include "base/clock.h"
#include "base/task.h"
#include "store/store.h"

namespace kyanite::blob {

struct Cleaned {
  uint64_t records = 0;     // removed from dead containers
  uint64_t containers = 0;  // forgotten for good
};

// One pass over the dead containers of an account; removes at most `most` records, so that it can
// be stopped in between and goes on with the next pass. A request that found the container alive
// may still commit to it for as long as it lasts, so an empty one is forgotten only after
// kForgetAfterSeconds; until then each pass looks again.
inline constexpr int64_t kForgetAfterSeconds = 24 * 3600;
Task<store::Result<Cleaned>> clean_dead_containers(store::Store& store,
                                                   const auth::Account& account, uint64_t most,
                                                   Time now);

}  // namespace kyanite::blob
