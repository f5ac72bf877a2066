// Entries of the index of tags that no blob makes true, and that no change under way can make true
// any more (docs/decisions/tag-index.md).
#pragma once

#include "jobs/job.h"

namespace kyanite::blob {

// The job that removes them.
jobs::Job remove_untrue_tags_job();

}  // namespace kyanite::blob
