// The jobs as the admin listener shows them to people.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics.h"
#include "jobs/schedule.h"

namespace kyanite::server {

// One line a job, under a line of titles.
std::string job_table(const std::vector<jobs::Status>& jobs);

// The engine's sweep, which has a thread and a pace of its own, in the same words: what it looks at
// are extents.
jobs::Status sweep_status(const engine::Metrics& metrics);

}  // namespace kyanite::server
