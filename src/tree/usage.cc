#include "tree/usage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "jobs/walk.h"
#include "store/fields.h"
#include "tree/records.h"

namespace kyanite::tree {

std::optional<uint64_t> Usage::bytes(store::SpaceId share) const {
  MutexLock lock(mutex_);
  const auto found = shares_.find(share);
  if (found == shares_.end() || !found->second.known) return std::nullopt;
  return static_cast<uint64_t>(std::max<int64_t>(*found->second.known, 0));
}

void Usage::begin(store::SpaceId share) {
  MutexLock lock(mutex_);
  shares_[share].known = 0;
}

void Usage::forget(store::SpaceId share) {
  MutexLock lock(mutex_);
  shares_.erase(share);
}

void Usage::note(store::SpaceId share, std::string_view key, int64_t more) {
  if (more == 0) return;
  MutexLock lock(mutex_);
  const auto found = shares_.find(share);
  if (found == shares_.end()) return;
  Share& noted = found->second;
  if (noted.known) *noted.known += more;
  if (noted.counting && key < noted.counting->next) noted.counting->bytes += more;
}

bool Usage::fits(const Share& share, uint64_t more) {
  if (more > share.quota) return false;
  const int64_t used = share.known.value_or(0) + share.promised;
  return used <= 0 || static_cast<uint64_t>(used) <= share.quota - more;
}

bool Usage::has_room(store::SpaceId share, uint64_t more) const {
  MutexLock lock(mutex_);
  const auto found = shares_.find(share);
  return found == shares_.end() || fits(found->second, more);
}

bool Usage::promise(store::SpaceId share, uint64_t more) {
  if (more == 0) return true;
  MutexLock lock(mutex_);
  const auto found = shares_.find(share);
  if (found == shares_.end()) return true;  // It is gone, and has no quota.
  if (!fits(found->second, more)) return false;
  found->second.promised += static_cast<int64_t>(more);
  return true;
}

void Usage::take_back(store::SpaceId share, uint64_t promised) {
  if (promised == 0) return;
  MutexLock lock(mutex_);
  // Of a share that is gone nothing is kept back any more; it may be back meanwhile.
  const auto found = shares_.find(share);
  if (found == shares_.end()) return;
  int64_t& all = found->second.promised;
  all = std::max<int64_t>(all - static_cast<int64_t>(promised), 0);
}

void Usage::set_quota(store::SpaceId share, uint64_t quota, Time as_of) {
  MutexLock lock(mutex_);
  Share& noted = shares_[share];
  if (as_of < noted.quota_as_of) return;
  noted.quota = quota;
  noted.quota_as_of = as_of;
}

Task<store::Result<bool>> Usage::count(jobs::Step& step, std::string, store::SpaceId share,
                                       std::string& key) {
  {
    MutexLock lock(mutex_);
    Share& counted = shares_[share];
    if (counted.known) co_return true;
    // What was counted before a restart is lost, whatever the job remembers.
    if (!counted.counting) counted.counting.emplace();
    key = counted.counting->next;
  }
  int64_t bytes = 0;
  const jobs::See see = [&](const store::View&,
                            const store::View::Cursor& cursor) -> store::Result<bool> {
    auto value = cursor.value();
    if (!value) return value.error();
    const auto entry = store::decode<Entry>(*value);
    if (!entry) return store::Error::kCorrupt;
    bytes += static_cast<int64_t>(entry->content.length);
    return true;
  };
  std::vector<store::Range> entries(1, store::Range::family(share, kEntries));
  auto at_end = co_await jobs::walk(step, std::move(entries), key, see);
  if (!at_end) co_return at_end;
  MutexLock lock(mutex_);
  const auto found = shares_.find(share);
  if (found == shares_.end() || !found->second.counting) co_return true;  // Deleted meanwhile.
  Share& counted = found->second;
  counted.counting->bytes += bytes;
  counted.counting->next = key;
  if (*at_end) {
    counted.known = counted.counting->bytes;
    counted.counting.reset();
  }
  co_return at_end;
}

}  // namespace kyanite::tree
