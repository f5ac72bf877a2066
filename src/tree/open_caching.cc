// What clients cache of open files, and how it is taken back: see tree/open_files.h.
#include <algorithm>

#include "tree/aftermath.h"
#include "tree/drafts.h"
#include "tree/open_files.h"

namespace kyanite::tree {

using concurrency::Caching;
using concurrency::GrantKind;
using concurrency::HandleUse;
using concurrency::OpenReach;

Grants::Rule OpenFiles::rule_of(HandleUse use) {
  return [use](GrantKind kind, Caching held) { return on_use(kind, held, use); };
}

void OpenFiles::note_breaks(Shard& shard, FileKey key) {
  const bool breaking = shard.files.at(key).grants.breaking();
  if (breaking) {
    if (shard.breaking.insert(key).second) ++breaking_;
  } else if (!shard.breaking.empty() && shard.breaking.erase(key) != 0) {
    --breaking_;
  }
}

void OpenFiles::wake_all(File& file, Aftermath& after) {
  for (Wait* wait : std::exchange(file.waiting, {})) after.wake(wait, true);
}

void OpenFiles::close_gone(Shard& shard, const std::vector<HandleId>& gone, Aftermath& after) {
  for (const HandleId id : gone) {
    const auto found = shard.handles.find(id);
    if (found == shard.handles.end()) continue;
    const FileKey key = found->second.file;
    const auto parked = shard.parked.find(id);
    std::shared_ptr<void> front;
    if (parked != shard.parked.end()) front = parked->second.front;
    if (found->second.delete_on_close) mark(shard, key);
    Handle removed = remove(shard, found, after);
    if (shard.files.at(key).handles.empty() && shard.delete_pending.contains(key))
      after.remove(removed, std::move(front),
                   note(shard, key, concurrency::FileOperation::kDeleteFile));
    after.uncount(std::move(removed));
  }
}

bool OpenFiles::disturb(Shard& shard, FileKey key, const Grants::Doer& doer,
                        const Grants::Rule& rule, Aftermath& after) {
  File& file = shard.files.at(key);
  if (file.grants.empty()) return false;
  const auto disturbed = file.grants.disturb(doer, rule, clock_.moment(), after.breaks);
  note_breaks(shard, key);
  close_gone(shard, disturbed.gone, after);
  return disturbed.waits;
}

std::optional<Refusal> OpenFiles::meet(Shard& shard, FileKey key, const Grants::Doer& doer,
                                       const CanBeBeside& can_be_beside, Aftermath& after) {
  File& file = shard.files.at(key);
  if (file.handles.empty()) return std::nullopt;
  bool conflict = false;
  bool undecided = false;
  bool waits = false;
  std::vector<HandleId> gone;
  for (const HandleId id : file.handles) {
    const Handle& handle = shard.handles.at(id);
    if (can_be_beside(handle)) continue;
    if (handle.undecided) {
      undecided = true;
      continue;
    }
    if (!shard.parked.empty() && shard.parked.contains(id)) {
      gone.push_back(id);
      continue;
    }
    conflict = true;
    if (file.grants.empty()) continue;
    // Perhaps the handle is open only because its client keeps it for another time.
    const auto disturbed = file.grants.disturb(doer, concurrency::on_sharing_conflict,
                                               clock_.moment(), after.breaks, id);
    waits = waits || disturbed.waits;
    gone.insert(gone.end(), disturbed.gone.begin(), disturbed.gone.end());
  }
  note_breaks(shard, key);
  close_gone(shard, gone, after);
  if (waits) return Refusal::kCached;
  if (conflict) return Refusal::kSharingViolation;
  if (undecided) return Refusal::kUndecided;
  return std::nullopt;
}

void OpenFiles::grant(Shard& shard, const FileOpen& request, HandleId handle) {
  const CachingWanted& wanted = request.caching;
  if (!wanted.lease && wanted.caching.empty()) return;
  File& file = shard.files[request.file];
  const GrantKind kind = wanted.lease ? GrantKind::kLease : GrantKind::kOplock;
  auto beside = file.grants.beside({0, wanted.lease});
  bool empties = false;  // Somebody is about to.
  for (const HandleId id : file.handles) {
    const Handle& other = shard.handles.at(id);
    empties = empties || (other.undecided && other.replaces);
    const bool ours = wanted.lease && other.caching.lease == wanted.lease;
    if (!ours && other.reach == OpenReach::kContent) beside.opens = true;
  }
  beside.range_locks = !file.locks.empty();
  // What changes the file at this moment would break it.
  concurrency::Caching caching = wanted.caching;
  for (const concurrency::FileOperation operation : file.in_flight)
    caching = on_operation(kind, caching, operation).kept;
  if (empties) caching = {};
  file.grants.grant(handle, wanted, grantable(kind, caching, beside));
}

// --- Waiting ---

void OpenFiles::add_timed(Shard& shard, FileKey key, Wait& wait) {
  shard.files.at(key).waiting.push_back(&wait);
  if (shard.timed.insert(key).second) ++timed_;
}

Task<Result<void>> OpenFiles::given_back(FileKey key, Deadline deadline, HandleId by, bool reads) {
  const Moment until = after_seconds(clock_.moment(), kCacheFlushSeconds);
  Shard& mine = shard(key);
  for (bool first = true;; first = false) {
    Wait wait;
    wait.deadline = deadline;
    if (by == 0) wait.until = until;
    {
      MutexLock lock(mine.mutex);
      const auto found = mine.files.find(key);
      if (found == mine.files.end()) break;
      const File& file = found->second;
      // Each of them is asked again by itself when some of it is over.
      const bool some =
          first && (mine.breaking.contains(key) || file.closing + file.undecided != 0);
      // Who takes precedence waits for what is in flight, everybody else for those who do.
      // Nobody who does comes before those who read.
      const bool turn = by != 0 ? !file.in_flight.empty() : !reads && !file.precedences.empty();
      if (!some && !turn) break;
      add_timed(mine, key, wait);
    }
    if (!co_await wait.turn) co_return Error(Refusal::kCacheFlushDelay);
  }
  co_return co_await drafts_->settle(key);
}

Task<kyanite::Result<void, Refusal>> OpenFiles::prepare(HandleId handle, HandleUse use) {
  Shard& mine = shard(handle);
  while (true) {
    Wait wait;
    {
      Aftermath after(*this);
      MutexLock lock(mine.mutex);
      const auto found = mine.handles.find(handle);
      if (found == mine.handles.end()) co_return Refusal::kNoSuchHandle;
      const FileKey key = found->second.file;
      if (!disturb(mine, key, {handle}, rule_of(use), after))
        co_return kyanite::Result<void, Refusal>();
      mine.files.at(key).waiting.push_back(&wait);
    }
    co_await wait.turn;
  }
}

// --- Acknowledgements ---

std::optional<CachingState> OpenFiles::caching(HandleId handle) const {
  const Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return std::nullopt;
  return mine.files.at(found->second.file).grants.of(handle);
}

template <class Whose>
kyanite::Result<void, AcknowledgeError> OpenFiles::acknowledge_in(FileKey key, const Whose& whose,
                                                                  Caching kept) {
  Aftermath after(*this);
  Shard& mine = shard(key);
  MutexLock lock(mine.mutex);
  const auto file = mine.files.find(key);
  if (file == mine.files.end()) return AcknowledgeError::kUnknown;
  auto done = file->second.grants.acknowledge(whose, kept, clock_.moment(), after.breaks);
  if (!done) return done;
  note_breaks(mine, key);
  wake_all(file->second, after);
  return {};
}

kyanite::Result<void, AcknowledgeError> OpenFiles::acknowledge(HandleId handle, Caching kept) {
  const auto open = find(handle);
  if (!open) return AcknowledgeError::kUnknown;
  return acknowledge_in(open->file, handle, kept);
}

kyanite::Result<void, AcknowledgeError> OpenFiles::acknowledge(const LeaseName& lease,
                                                               Caching kept) {
  const auto file = leases_.find(lease);
  if (!file) return AcknowledgeError::kUnknown;
  return acknowledge_in(*file, lease, kept);
}

// --- Time ---

void OpenFiles::end_timed(Shard& shard, FileKey key, Moment now, Aftermath& after) {
  const auto found = shard.files.find(key);
  bool any = false;
  if (found != shard.files.end()) {
    std::erase_if(found->second.waiting, [&](Wait* wait) {
      const bool over = wait->deadline.over() || (wait->until && now >= *wait->until);
      if (over) after.wake(wait, false);
      any = any || (!over && (wait->deadline.is_set() || wait->until));
      return over;
    });
    forget_if_idle(shard, key);
  }
  if (any) return;
  shard.timed.erase(key);
  --timed_;
}

void OpenFiles::pass_time(Shard& shard, Moment now, Aftermath& after) {
  const std::vector<FileKey> timed(shard.timed.begin(), shard.timed.end());
  for (const FileKey& key : timed) end_timed(shard, key, now, after);
  const std::vector<FileKey> breaking(shard.breaking.begin(), shard.breaking.end());
  for (const FileKey& key : breaking) {
    File& file = shard.files.at(key);
    file.grants.remind(now, after.breaks);
    if (!file.grants.expire(now)) continue;
    note_breaks(shard, key);
    wake_all(file, after);
  }
  std::vector<HandleId> overdue;
  for (const auto& [id, parked] : shard.parked) {
    if (now >= parked.until) overdue.push_back(id);
  }
  for (const HandleId id : overdue) {
    const auto handle = shard.handles.find(id);
    const FileKey key = handle->second.file;
    close_gone(shard, {id}, after);
    forget_if_idle(shard, key);
  }
}

void OpenFiles::pass_time() {
  if (breaking_.load(std::memory_order_relaxed) == 0 &&
      parked_.load(std::memory_order_relaxed) == 0 && timed_.load(std::memory_order_relaxed) == 0)
    return;
  const Moment now = clock_.moment();
  for (Shard& each : shards_) {
    Aftermath after(*this);
    MutexLock lock(each.mutex);
    pass_time(each, now, after);
  }
}

// --- Handles whose clients are away ---

bool OpenFiles::park(HandleId id, int64_t seconds, std::shared_ptr<void> front) {
  Shard& mine = shard(id);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(id);
  if (found == mine.handles.end()) return false;
  Grants& grants = mine.files.at(found->second.file).grants;
  const auto state = grants.of(id);
  if (!state || state->breaking || !state->caching.has(concurrency::kHandleCaching)) return false;
  if (!parked_counts_.add(found->second.file.share)) return false;
  ++parked_;
  grants.set_holder(id, nullptr);
  mine.parked[id] = {after_seconds(clock_.moment(), seconds), std::move(front)};
  return true;
}

kyanite::Result<OpenFiles::Reclaimed, Refusal> OpenFiles::reclaim(
    HandleId id, const IsIt& is_it, uint64_t session, std::string client,
    std::shared_ptr<CacheHolder> holder) {
  Shard& mine = shard(id);
  MutexLock lock(mine.mutex);
  const auto parked = mine.parked.find(id);
  if (parked == mine.parked.end()) return Refusal::kNoSuchHandle;
  Handle& handle = mine.handles.at(id);
  if (!is_it(handle, parked->second.front.get())) return Refusal::kNoSuchHandle;
  mine.files.at(handle.file).grants.set_holder(id, std::move(holder));
  handle.session = session;
  handle.client = std::move(client);
  handle.reconnected = clock_.now();
  Reclaimed reclaimed{handle, std::move(parked->second.front)};
  mine.parked.erase(parked);
  --parked_;
  parked_counts_.remove(handle.file.share);
  return reclaimed;
}

}  // namespace kyanite::tree
