// Entries that the index of tags lacks: an earlier version lost those of blobs that have their
// tags. Nothing loses entries any more (docs/decisions/tag-index.md).
#pragma once

#include "jobs/job.h"

namespace kyanite::blob {

// The job that compares the blobs of an account with the index, once, and writes what is missing.
jobs::Job mend_tags_job();

}  // namespace kyanite::blob
