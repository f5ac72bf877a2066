#include "blob/job_commits.h"

#include <utility>

#include "blob/tag_entry.h"

namespace kyanite::blob {

Task<store::Result<void>> commit_changes(jobs::Step& step, std::vector<store::Commit> commits) {
  const auto done = co_await commit_together(step.store(), std::move(commits));
  for (const auto& each : done) {
    if (each) step.count_changes();
    if (!each && each.error() != store::Error::kConflict) co_return each.error();
  }
  co_return store::Result<void>();
}

}  // namespace kyanite::blob
