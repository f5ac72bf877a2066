// What deleted queues (containers, tables, shares) leave behind: spaces that no request can reach
// any more, whose records are removed in the background.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/task.h"
#include "jobs/job.h"
#include "store/store.h"

namespace kyanite::lifetime {

// The write that notes a space as dead, for the commit that takes it from its owner.
store::Write bury(std::string_view account, store::Family family, std::string_view owner,
                  store::SpaceId space, Time now);

// A request that still knows the space may commit to it for as long as it lasts, so an empty space
// is forgotten only after this; until then each round looks again.
inline constexpr int64_t kForgetAfterSeconds = 3600;

// Called for each dead space before it may be forgotten.
using Forget = std::function<Task<store::Result<void>>(jobs::Step& step, store::SpaceId space)>;

// Called for each dead space each time before its records are removed.
using Close = std::function<void(store::SpaceId space)>;

// The job that removes the records of dead spaces that accounts' directories note in `family`.
jobs::Job clean_spaces_job(std::string name, store::Family family, Forget forget = nullptr,
                           Close close = nullptr);

}  // namespace kyanite::lifetime
