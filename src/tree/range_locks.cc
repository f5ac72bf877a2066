// Byte-range locks: see tree/open_files.h.
#include <algorithm>
#include <limits>

#include "tree/aftermath.h"
#include "tree/open_files.h"

namespace kyanite::tree {

using concurrency::FileOperation;

namespace {

constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();

uint64_t last_byte(const ByteRange& range) {
  return range.length - 1 > kLargest - range.offset ? kLargest : range.offset + range.length - 1;
}

// A range of no bytes lies between two bytes and meets ranges that have both.
bool overlap(const ByteRange& a, const ByteRange& b) {
  if (a.length == 0 && b.length == 0) return false;
  if (a.length == 0) return b.offset < a.offset && a.offset <= last_byte(b);
  if (b.length == 0) return overlap(b, a);
  return a.offset <= last_byte(b) && b.offset <= last_byte(a);
}

// An exclusive lock meets every other one, except a shared one that its own holder puts over it.
bool conflict(const RangeLock& held, const RangeLock& asked, bool same_holder) {
  if (!held.exclusive && !asked.exclusive) return false;
  if (same_holder && held.exclusive && !asked.exclusive) return false;
  return overlap(held.range, asked.range);
}

bool is_written(const std::vector<FileOperation>& in_flight) {
  return std::find(in_flight.begin(), in_flight.end(), FileOperation::kPutRange) != in_flight.end();
}

}  // namespace

kyanite::Result<std::pair<OpenFiles::File*, store::SpaceId>, Refusal> OpenFiles::lockable(
    Shard& shard, HandleId handle, Aftermath& after) {
  const auto found = shard.handles.find(handle);
  if (found == shard.handles.end()) return Refusal::kNoSuchHandle;
  constexpr auto kEither = concurrency::kReadAccess | concurrency::kWriteAccess;
  if ((found->second.mode.access & kEither).empty()) return Refusal::kAccessDenied;
  // Who reads from memory does not see locks.
  const auto rule = rule_of(concurrency::HandleUse::kWrite);
  disturb(shard, found->second.file, {handle}, rule, after);
  return std::pair(&shard.files.at(found->second.file), found->second.file.share);
}

Task<kyanite::Result<void, Refusal>> OpenFiles::lock(HandleId handle,
                                                     std::vector<RangeLock> locks) {
  Shard& mine = shard(handle);
  while (true) {
    Wait wait;
    {
      Aftermath after(*this);
      MutexLock lock(mine.mutex);
      const auto found = lockable(mine, handle, after);
      if (!found) co_return found.error();
      const auto& [file, share] = *found;
      if (!is_written(file->in_flight)) co_return add_locks(*file, share, handle, locks);
      file->waiting.push_back(&wait);
    }
    co_await wait.turn;
  }
}

Task<kyanite::Result<void, Refusal>> OpenFiles::lock_when_free(HandleId handle, RangeLock lock,
                                                               uint64_t ticket,
                                                               std::function<void()> waits) {
  Shard& mine = shard(handle);
  while (true) {
    Wait wait;
    LockWait waiting{handle, lock, ticket};
    bool queued = false;
    {
      Aftermath after(*this);
      MutexLock locked(mine.mutex);
      const auto found = lockable(mine, handle, after);
      if (!found) co_return found.error();
      const auto& [file, share] = *found;
      if (is_written(file->in_flight)) {
        file->waiting.push_back(&wait);
      } else {
        const auto refusal = try_lock(*file, share, waiting);
        if (!refusal) co_return kyanite::Result<void, Refusal>();
        if (refusal != Refusal::kLockConflict) co_return *refusal;
        if (file->lock_waits.size() >= kMaxWaitingLocks) co_return Refusal::kTooManyWaiting;
        file->lock_waits.push_back(&waiting);
        queued = true;
      }
    }
    if (queued) {
      waits();
      co_return co_await waiting.turn;
    }
    co_await wait.turn;
  }
}

void OpenFiles::cancel_lock(HandleId handle, uint64_t ticket) {
  Aftermath after(*this);
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return;
  std::erase_if(mine.files.at(found->second.file).lock_waits, [&](LockWait* wait) {
    const bool meant = wait->handle == handle && wait->ticket == ticket;
    if (meant) after.wake(wait, Refusal::kCancelled);
    return meant;
  });
}

// Goes on where it was stopped before, unless what stopped it is still there.
std::optional<Refusal> OpenFiles::try_lock(File& file, store::SpaceId share, LockWait& wait) {
  auto& locks = file.locks;
  const auto from = std::partition_point(
      locks.begin(), locks.end(), [&](const HeldLock& held) { return held.number < wait.behind; });
  const auto taken = std::find_if(from, locks.end(), [&](const HeldLock& held) {
    return conflict(held.lock, wait.lock, held.holder == wait.handle);
  });
  if (taken != locks.end()) {
    wait.behind = taken->number;
    return Refusal::kLockConflict;
  }
  if (locks.size() >= kMaxLocksPerFile || !lock_counts_.add(share)) return Refusal::kTooManyLocks;
  locks.push_back({wait.handle, wait.lock, ++file.last_lock});
  return std::nullopt;
}

void OpenFiles::retry_locks(File& file, store::SpaceId share, Aftermath& after) {
  std::erase_if(file.lock_waits, [&](LockWait* wait) {
    const auto refusal = try_lock(file, share, *wait);
    if (refusal == Refusal::kLockConflict) return false;
    after.wake(wait, refusal ? kyanite::Result<void, Refusal>(*refusal)
                             : kyanite::Result<void, Refusal>());
    return true;
  });
}

kyanite::Result<void, Refusal> OpenFiles::add_locks(File& file, store::SpaceId share,
                                                    HandleId holder,
                                                    std::span<const RangeLock> locks) {
  const size_t before = file.locks.size();
  if (locks.size() > kMaxLocksPerFile - before) return Refusal::kTooManyLocks;
  if (!lock_counts_.add(share, locks.size())) return Refusal::kTooManyLocks;
  for (const RangeLock& asked : locks) {
    const bool taken = std::any_of(file.locks.begin(), file.locks.end(), [&](const HeldLock& held) {
      return conflict(held.lock, asked, held.holder == holder);
    });
    if (taken) {
      file.locks.resize(before);
      lock_counts_.remove(share, locks.size());
      return Refusal::kLockConflict;
    }
    file.locks.push_back({holder, asked, ++file.last_lock});
  }
  return {};
}

kyanite::Result<void, Refusal> OpenFiles::unlock(HandleId handle, ByteRange range) {
  Aftermath after(*this);
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
  File& file = mine.files.at(found->second.file);
  auto& locks = file.locks;
  const auto held = std::find_if(locks.begin(), locks.end(), [&](const HeldLock& each) {
    return each.holder == handle && each.lock.range == range;
  });
  if (held == locks.end()) return Refusal::kRangeNotLocked;
  const uint64_t number = held->number;
  const store::SpaceId share = found->second.file.share;
  locks.erase(held);
  lock_counts_.remove(share);
  const bool in_the_way = std::any_of(file.lock_waits.begin(), file.lock_waits.end(),
                                      [&](const LockWait* wait) { return wait->behind == number; });
  if (in_the_way) retry_locks(file, share, after);
  return {};
}

Result<void> OpenFiles::check_reading(FileKey key, ByteRange range) const {
  if (idle() || range.length == 0) return {};
  const Shard& mine = shard(key);
  MutexLock lock(mine.mutex);
  const auto found = mine.files.find(key);
  if (found == mine.files.end()) return {};
  for (const HeldLock& held : found->second.locks) {
    if (held.lock.exclusive && overlap(held.lock.range, range))
      return Error(Refusal::kLockConflict);
  }
  return {};
}

kyanite::Result<void, Refusal> OpenFiles::check_io(HandleId handle, ByteRange range, bool write) {
  Aftermath after(*this);
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
  if (range.length == 0) return {};
  const FileKey key = found->second.file;
  for (const HeldLock& held : mine.files.at(key).locks) {
    const bool own = held.holder == handle;
    const bool forbids = write ? !own || !held.lock.exclusive : !own && held.lock.exclusive;
    if (forbids && overlap(held.lock.range, range)) return Refusal::kLockConflict;
  }
  if (write) disturb(mine, key, {handle}, rule_of(concurrency::HandleUse::kWrite), after);
  return {};
}

}  // namespace kyanite::tree
