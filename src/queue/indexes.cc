#include "queue/indexes.h"

#include <utility>

namespace kyanite::queue {

std::shared_ptr<Index> Indexes::of(store::SpaceId space) {
  MutexLock lock(mutex_);
  if (auto found = kept_.find(space); found != kept_.end()) {
    found->second.used = true;
    return found->second.index;
  }
  if (kept_.size() >= kMostKept) make_room();
  return kept_.emplace(space, Kept{std::make_shared<Index>()}).first->second.index;
}

// An index that someone holds stays: what he commits would be missing in a new one.
void Indexes::make_room() {
  for (auto at = kept_.begin(); at != kept_.end();) {
    const bool used = std::exchange(at->second.used, false);
    at = used || at->second.index.use_count() > 1 ? std::next(at) : kept_.erase(at);
  }
  if (kept_.size() < kMostKept) return;
  std::erase_if(kept_, [](const auto& entry) { return entry.second.index.use_count() == 1; });
}

std::shared_ptr<Index> Indexes::find(store::SpaceId space) {
  MutexLock lock(mutex_);
  const auto found = kept_.find(space);
  return found == kept_.end() ? nullptr : found->second.index;
}

void Indexes::drop(store::SpaceId space) {
  MutexLock lock(mutex_);
  kept_.erase(space);
}

size_t Indexes::size() {
  MutexLock lock(mutex_);
  return kept_.size();
}

}  // namespace kyanite::queue
