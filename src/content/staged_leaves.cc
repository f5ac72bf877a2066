#include "content/staged_leaves.h"

#include <iterator>
#include <utility>

#include "content/graves.h"
#include "content/leaves.h"

namespace kyanite::content {

StagedLeaves::StagedLeaves(store::Store& store, const Place& place, Deadline deadline)
    : store_(store), place_(place), deadline_(deadline), id_(new_content_id()) {}

bool StagedLeaves::is_full() const {
  return deadline_.is_set() &&
         (portion_.size() >= kMaxLeavesPerCommit || bytes_ >= kMaxPortionBytes);
}

void StagedLeaves::add(uint64_t mark, store::RecordPtr leaf) {
  bytes_ += leaf->value.size() + leaf->refs.size() * sizeof(store::Ref);
  portion_.push_back({leaf_key(place_, id_, mark), std::move(leaf)});
}

Task<store::Result<void>> StagedLeaves::put_portion() {
  if (deadline_.over()) co_return store::Error::kTimeout;
  if (grave_ == nullptr) {
    auto grave = to_record(Grave{id_, after_seconds(deadline_.date(), kDraftSeconds)});
    store::Commit dig;
    dig.expect_absent(grave_key(place_, id_));
    dig.put(grave_key(place_, id_), grave);
    if (auto dug = co_await store_.commit(std::move(dig)); !dug) co_return dug.error();
    grave_ = std::move(grave);
  }
  store::Commit commit;
  commit.expect(grave_key(place_, id_), grave_);
  commit.writes = std::exchange(portion_, {});
  bytes_ = 0;
  co_return co_await store_.commit(std::move(commit));
}

void StagedLeaves::finish(store::Commit& commit) {
  std::move(portion_.begin(), portion_.end(), std::back_inserter(commit.writes));
  if (grave_ == nullptr) return;
  commit.expect(grave_key(place_, id_), grave_);
  commit.remove(grave_key(place_, id_));
}

Task<void> StagedLeaves::give_up() {
  if (grave_ == nullptr) co_return;
  store::Commit commit;
  commit.expect(grave_key(place_, id_), grave_);
  commit.put(grave_key(place_, id_), to_record(Grave{id_, {}}));
  (void)co_await store_.commit(std::move(commit));
}

}  // namespace kyanite::content
