#include "tree/snapshot_opens.h"

#include <limits>

namespace kyanite::tree {

std::shared_ptr<const SnapshotLife> SnapshotOpens::open(store::SpaceId share, Generation shown) {
  auto life = find_or_begin({share, shown});
  if (!counts_.add(share)) return nullptr;
  const SnapshotLife* const seen = life.get();
  return {seen,
          [this, share, life = std::move(life)](const SnapshotLife*) { counts_.remove(share); }};
}

std::shared_ptr<SnapshotLife> SnapshotOpens::find_or_begin(const Key& key) {
  MutexLock lock(mutex_);
  if (const auto found = lives_.find(key); found != lives_.end()) {
    if (auto life = found->second.lock()) return life;
  }
  std::erase_if(lives_, [](const auto& each) { return each.second.expired(); });
  auto life = std::make_shared<SnapshotLife>();
  lives_[key] = life;
  return life;
}

void SnapshotOpens::end(store::SpaceId share, Generation shown) {
  end_between({share, shown}, {share, shown});
}

void SnapshotOpens::end_share(store::SpaceId share) {
  end_between({share, 0}, {share, std::numeric_limits<Generation>::max()});
}

void SnapshotOpens::end_between(const Key& first, const Key& last) {
  MutexLock lock(mutex_);
  const auto begin = lives_.lower_bound(first);
  const auto end = lives_.upper_bound(last);
  for (auto each = begin; each != end; ++each) {
    if (const auto life = each->second.lock()) life->over_ = true;
  }
  // A share may be restored, and its snapshots with it.
  lives_.erase(begin, end);
}

}  // namespace kyanite::tree
