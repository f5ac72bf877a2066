// Former states of entries, which are kept as long as a snapshot of the share shows them.
#pragma once

#include <string>

#include "base/task.h"
#include "jobs/job.h"
#include "store/store.h"

namespace kyanite::tree {

// Removes former states of a share that no snapshot shows any more, once a snapshot was deleted, in
// steps that go on at `key`; true once it is through.
Task<store::Result<bool>> remove_unseen_states(jobs::Step& step, std::string share,
                                               store::SpaceId space, std::string& key);

}  // namespace kyanite::tree
