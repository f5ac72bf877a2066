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

kyanite::Result<OpenFiles::File*, Refusal> OpenFiles::lockable(Shard& shard, HandleId handle,
                                                               Aftermath& after) {
  const auto found = shard.handles.find(handle);
  if (found == shard.handles.end()) return Refusal::kNoSuchHandle;
  constexpr auto kEither = concurrency::kReadAccess | concurrency::kWriteAccess;
  if ((found->second.mode.access & kEither).empty()) return Refusal::kAccessDenied;
  // Who reads from memory does not see locks.
  const auto rule = rule_of(concurrency::HandleUse::kWrite);
  disturb(shard, found->second.file, {handle}, rule, after);
  return &shard.files.at(found->second.file);
}

Task<kyanite::Result<void, Refusal>> OpenFiles::lock(HandleId handle,
                                                     std::vector<RangeLock> locks) {
  Shard& mine = shard(handle);
  while (true) {
    Wait wait;
    {
      Aftermath after(*this);
      MutexLock lock(mine.mutex);
      auto file = lockable(mine, handle, after);
      if (!file) co_return file.error();
      if (!is_written((*file)->in_flight)) co_return add_locks(**file, handle, locks);
      (*file)->waiting.push_back(&wait);
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
      auto file = lockable(mine, handle, after);
      if (!file) co_return file.error();
      if (is_written((*file)->in_flight)) {
        (*file)->waiting.push_back(&wait);
      } else if (auto added = add_locks(**file, handle, {&lock, 1});
                 added || added.error() != Refusal::kLockConflict) {
        co_return added;
      } else if ((*file)->lock_waits.size() >= kMaxWaitingLocks) {
        co_return Refusal::kTooManyWaiting;
      } else {
        (*file)->lock_waits.push_back(&waiting);
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

void OpenFiles::retry_locks(File& file, Aftermath& after) {
  std::erase_if(file.lock_waits, [&](LockWait* wait) {
    const bool locked = add_locks(file, wait->handle, {&wait->lock, 1}).ok();
    if (locked) after.wake(wait, {});
    return locked;
  });
}

kyanite::Result<void, Refusal> OpenFiles::add_locks(File& file, HandleId holder,
                                                    std::span<const RangeLock> locks) {
  if (locks.size() > kMaxLocksPerFile - file.locks.size()) return Refusal::kTooManyLocks;
  for (size_t i = 0; i < locks.size(); ++i) {
    if (file.locks.conflicts(holder, locks[i])) {
      for (const RangeLock& added : locks.first(i)) file.locks.remove(holder, added);
      return Refusal::kLockConflict;
    }
    file.locks.add(holder, locks[i]);
  }
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
  // Once for all: each who waits looks at what is left.
  if (wrong != ranges.begin()) retry_locks(file, after);
  if (wrong != ranges.end()) return Refusal::kRangeNotLocked;
  return {};
}

Result<void> OpenFiles::check_reading(FileKey key, ByteRange range) const {
  if (idle() || range.length == 0) return {};
  const Shard& mine = shard(key);
  MutexLock lock(mine.mutex);
  const auto found = mine.files.find(key);
  if (found == mine.files.end()) return {};
  if (found->second.locks.forbid(0, range, false)) return Error(Refusal::kLockConflict);
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
  if (mine.files.at(key).locks.forbid(handle, range, write)) return Refusal::kLockConflict;
  if (write) disturb(mine, key, {handle}, rule_of(concurrency::HandleUse::kWrite), after);
  return {};
}

}  // namespace kyanite::tree
