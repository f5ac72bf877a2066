// What the time is over for in containers: soft-deleted heads whose retention is over, expired
// blobs, uncommitted blocks that nobody committed in time, marks of blocks that are gone, and
// changes of tags that were announced and given up.
#pragma once

#include "jobs/job.h"

namespace kyanite::blob {

// The job that removes them.
jobs::Job remove_overdue_job();
// The same where there are directories.
jobs::Job remove_overdue_paths_job();

}  // namespace kyanite::blob
