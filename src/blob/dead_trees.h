// Directories that were deleted with everything in them, and files that are gone: nothing leads to
// them any more, and what lies below is removed in portions by a job.
#pragma once

#include "base/clock.h"
#include "base/task.h"
#include "blob/place.h"
#include "jobs/job.h"
#include "store/store.h"

namespace kyanite::blob {

// For the commit that takes the file or directory with this id away: all that lies under it goes.
void bury_tree(store::SpaceId space, uint64_t id, Time now, store::Commit& commit);

// Likewise of the root of a container that is gone, if something lies there.
Task<store::Result<void>> bury_root(jobs::Step& step, store::SpaceId container);

// Removes what lies below files and directories that are gone.
jobs::Job clear_dead_trees_job();
// Removes contents that nothing names any more (content/graves.h).
jobs::Job clear_lake_graves_job();

}  // namespace kyanite::blob
