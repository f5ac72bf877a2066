// What jobs of the Blob service commit.
#pragma once

#include <vector>

#include "base/task.h"
#include "jobs/job.h"
#include "store/store.h"

namespace kyanite::blob {

// Commits to different partitions, side by side, each counted as a change of the step. One that
// finds somebody else's change is left out: a later round decides on it anew.
Task<store::Result<void>> commit_changes(jobs::Step& step, std::vector<store::Commit> commits);

}  // namespace kyanite::blob
