// How many things of one kind each owner has (a share, an account), of a number that all have
// together. One owner has no more of them than are left for others: alone it gets a half, and there
// is always one for another. Where owners are many together they may have three times as many.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "base/mutex.h"

namespace kyanite {

// Thread-safe.
template <class Owner>
class FairCounts {
 public:
  explicit FairCounts(size_t most, size_t times_left = 1) : most_(most), times_left_(times_left) {}
  FairCounts(const FairCounts&) = delete;
  FairCounts& operator=(const FairCounts&) = delete;

  // False, and nothing is added, when that is too many.
  [[nodiscard]] bool add(const Owner& owner, size_t count = 1) {
    MutexLock lock(mutex_);
    const auto found = counts_.find(owner);
    const size_t own = found == counts_.end() ? 0 : found->second;
    if (total_ + count > most_ || own + count > times_left_ * (most_ - total_)) return false;
    counts_[owner] += count;
    total_ += count;
    return true;
  }
  void remove(const Owner& owner, size_t count = 1) {
    if (count == 0) return;
    MutexLock lock(mutex_);
    const auto found = counts_.find(owner);
    total_ -= count;
    found->second -= count;
    if (found->second == 0) counts_.erase(found);
  }
  size_t total() const {
    MutexLock lock(mutex_);
    return total_;
  }

 private:
  const size_t most_;
  const size_t times_left_;
  mutable Mutex mutex_;
  std::unordered_map<Owner, size_t> counts_ GUARDED_BY(mutex_);
  size_t total_ GUARDED_BY(mutex_) = 0;
};

}  // namespace kyanite
