// What clients have open of snapshots. It keeps nobody from anything, so that it is not among the
// handles; but it ends with its snapshot.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <utility>

#include "base/fair_counts.h"
#include "base/mutex.h"
#include "store/key.h"
#include "tree/limits.h"
#include "tree/records.h"

namespace kyanite::tree {

// Of one snapshot, for all who have something of it open.
class SnapshotLife {
 public:
  bool over() const { return over_.load(); }

 private:
  friend class SnapshotOpens;
  std::atomic<bool> over_ = false;
};

// Used from all threads, and outlives what it opens.
class SnapshotOpens {
 public:
  explicit SnapshotOpens(size_t most = kMaxShownOpens) : counts_(most) {}

  // Whoever opens something looks for the snapshot again once it has this: a deletion that came
  // before did not see it. It is open as long as there is a copy of this. Null when too much is.
  std::shared_ptr<const SnapshotLife> open(store::SpaceId share, Generation shown);
  // The snapshot is deleted.
  void end(store::SpaceId share, Generation shown);
  // All of the share are.
  void end_share(store::SpaceId share);

 private:
  using Key = std::pair<store::SpaceId, Generation>;
  using Lives = std::map<Key, std::weak_ptr<SnapshotLife>>;

  std::shared_ptr<SnapshotLife> find_or_begin(const Key& key);
  void end_between(const Key& first, const Key& last);

  FairCounts<store::SpaceId> counts_;
  Mutex mutex_;
  Lives lives_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::tree
