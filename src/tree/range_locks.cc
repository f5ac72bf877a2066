// Byte-range locks: see tree/open_files.h.
#include <algorithm>

#include "tree/aftermath.h"
#include "tree/open_files.h"

namespace kyanite::tree {

using concurrency::FileOperation;

namespace {

bool is_written(const std::vector<FileOperation>& in_flight) {
  return std::find(in_flight.begin(), in_flight.end(), FileOperation::kPutRange) != in_flight.end();
}

}  // namespace

kyanite::Result<FileKey, Refusal> OpenFiles::lockable(Shard& shard, HandleId handle,
                                                      Aftermath& after) {
  const auto found = shard.handles.find(handle);
  if (found == shard.handles.end()) return Refusal::kNoSuchHandle;
  constexpr auto kEither = concurrency::kReadAccess | concurrency::kWriteAccess;
  if ((found->second.mode.access & kEither).empty()) return Refusal::kAccessDenied;
  // Who reads from memory does not see locks.
  const auto rule = rule_of(concurrency::HandleUse::kWrite);
  disturb(shard, found->second.file, {handle}, rule, after);
  return found->second.file;
}

Task<kyanite::Result<void, Refusal>> OpenFiles::lock(HandleId handle,
                                                     std::vector<RangeLock> locks) {
  Shard& mine = shard(handle);
  Precedence precedence;
  while (true) {
    Wait wait;
    {
      Aftermath after(*this);
      MutexLock lock(mine.mutex);
      const auto found = lockable(mine, handle, after);
      if (!found) co_return found.error();
      File& file = mine.files.at(*found);
      if (!is_written(file.in_flight)) co_return add_locks(file, found->share, handle, locks);
      file.waiting.push_back(&wait);
      take_precedence(file, *found, only(FileOperation::kPutRange), precedence);
    }
    co_await wait.turn;
  }
}

Task<kyanite::Result<void, Refusal>> OpenFiles::lock_when_free(HandleId handle, RangeLock lock,
                                                               uint64_t ticket,
                                                               std::function<void()> waits) {
  Shard& mine = shard(handle);
  Precedence precedence;
  while (true) {
    Wait wait;
    LockWait waiting{handle, lock, ticket};
    bool queued = false;
    {
      Aftermath after(*this);
      MutexLock locked(mine.mutex);
      const auto found = lockable(mine, handle, after);
      if (!found) co_return found.error();
      File& file = mine.files.at(*found);
      if (is_written(file.in_flight)) {
        file.waiting.push_back(&wait);
        take_precedence(file, *found, only(FileOperation::kPutRange), precedence);
      } else {
        const auto taken = add_locks(file, found->share, handle, {&lock, 1});
        if (taken || taken.error() != Refusal::kLockConflict) co_return taken;
        if (file.lock_waits.size() >= kMaxWaitingLocks) co_return Refusal::kTooManyWaiting;
        file.lock_waits.push_back(&waiting);
        queued = true;
      }
    }
    if (queued) {
      precedence = {};
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

void OpenFiles::retry_locks(File& file, store::SpaceId share, Aftermath& after) {
  std::erase_if(file.lock_waits, [&](LockWait* wait) {
    if (file.locks.conflicts(wait->handle, wait->lock)) return false;
    after.wake(wait, add_locks(file, share, wait->handle, {&wait->lock, 1}));
    return true;
  });
}

kyanite::Result<void, Refusal> OpenFiles::add_locks(File& file, store::SpaceId share,
                                                    HandleId holder,
                                                    std::span<const RangeLock> locks) {
  if (locks.size() > kMaxLocksPerFile - file.locks.size()) return Refusal::kTooManyLocks;
  if (!lock_counts_.add(share, locks.size())) return Refusal::kTooManyLocks;
  for (size_t i = 0; i < locks.size(); ++i) {
    if (file.locks.conflicts(holder, locks[i])) {
      for (const RangeLock& added : locks.first(i)) file.locks.remove(holder, added);
      lock_counts_.remove(share, locks.size());
      return Refusal::kLockConflict;
    }
    file.locks.add(holder, locks[i]);
  }
  note_lock_move(file);
  return {};
}

kyanite::Result<void, Refusal> OpenFiles::unlock(HandleId handle,
                                                 std::span<const ByteRange> ranges) {
  Aftermath after(*this);
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
  File& file = mine.files.at(found->second.file);
  const auto wrong = std::find_if_not(ranges.begin(), ranges.end(), [&](const ByteRange& range) {
    return file.locks.remove(handle, range);
  });
  const store::SpaceId share = found->second.file.share;
  lock_counts_.remove(share, static_cast<size_t>(wrong - ranges.begin()));
  if (wrong != ranges.begin()) {
    note_lock_move(file);
    // Once for all: each who waits looks at what is left.
    retry_locks(file, share, after);
  }
  if (wrong != ranges.end()) return Refusal::kRangeNotLocked;
  return {};
}

kyanite::Result<void, Refusal> OpenFiles::check_io(HandleId handle, ByteRange range, bool write) {
  Aftermath after(*this);
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
  const FileKey key = found->second.file;
  if (range.length != 0 && mine.files.at(key).locks.forbid(handle, range, write))
    return Refusal::kLockConflict;
  if (write) disturb(mine, key, {handle}, rule_of(concurrency::HandleUse::kWrite), after);
  return {};
}

}  // namespace kyanite::tree
