// Expired messages. Readers do not see them; removing them only gives their space back.
#pragma once

#include "jobs/job.h"
#include "queue/indexes.h"

namespace kyanite::queue {

// The job that removes them. The indexes outlive it.
jobs::Job remove_expired_job(Indexes& indexes);

}  // namespace kyanite::queue
