// How many things of one kind each share has, of a number that all have together. One share has no
// more of them than are left for others: alone it gets a half, and there is always one for another.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "base/mutex.h"
#include "store/store.h"

namespace kyanite::tree {

// Thread-safe.
class ShareCounts {
 public:
  explicit ShareCounts(size_t most) : most_(most) {}
  ShareCounts(const ShareCounts&) = delete;
  ShareCounts& operator=(const ShareCounts&) = delete;

  // False, and nothing is added, when that is too many.
  [[nodiscard]] bool add(store::SpaceId share, size_t count = 1) {
    MutexLock lock(mutex_);
    const auto found = counts_.find(share);
    const size_t own = found == counts_.end() ? 0 : found->second;
    if (total_ + count > most_ || own + count > most_ - total_) return false;
    counts_[share] += count;
    total_ += count;
    return true;
  }
  void remove(store::SpaceId share, size_t count = 1) {
    if (count == 0) return;
    MutexLock lock(mutex_);
    const auto found = counts_.find(share);
    total_ -= count;
    found->second -= count;
    if (found->second == 0) counts_.erase(found);
  }

 private:
  const size_t most_;
  Mutex mutex_;
  std::unordered_map<store::SpaceId, size_t> counts_ GUARDED_BY(mutex_);
  size_t total_ GUARDED_BY(mutex_) = 0;
};

}  // namespace kyanite::tree
