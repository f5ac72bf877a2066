// Byte-range locks: see tree/open_files.h.
#include <algorithm>
#include <limits>

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

}  // namespace

Task<kyanite::Result<void, Refusal>> OpenFiles::lock(HandleId handle,
                                                     std::vector<RangeLock> locks) {
  Shard& mine = shard(handle);
  while (true) {
    Turn turn;
    {
      std::lock_guard lock(mine.mutex);
      const auto found = mine.handles.find(handle);
      if (found == mine.handles.end()) co_return Refusal::kNoSuchHandle;
      constexpr auto kEither = concurrency::kReadAccess | concurrency::kWriteAccess;
      if ((found->second.mode.access & kEither).empty()) co_return Refusal::kAccessDenied;
      File& file = mine.files.at(found->second.file);
      const bool writing = std::find(file.in_flight.begin(), file.in_flight.end(),
                                     FileOperation::kPutRange) != file.in_flight.end();
      if (!writing) co_return add_locks(file, handle, locks);
      file.waiting.push_back(&turn);
    }
    co_await turn;
  }
}

kyanite::Result<void, Refusal> OpenFiles::add_locks(File& file, HandleId holder,
                                                    const std::vector<RangeLock>& locks) {
  const size_t before = file.locks.size();
  for (const RangeLock& asked : locks) {
    const bool taken = std::any_of(file.locks.begin(), file.locks.end(), [&](const HeldLock& held) {
      return conflict(held.lock, asked, held.holder == holder);
    });
    if (taken) {
      file.locks.resize(before);
      return Refusal::kLockConflict;
    }
    file.locks.push_back({holder, asked});
  }
  return {};
}

kyanite::Result<void, Refusal> OpenFiles::unlock(HandleId handle, ByteRange range) {
  Shard& mine = shard(handle);
  std::lock_guard lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
  auto& locks = mine.files.at(found->second.file).locks;
  const auto held = std::find_if(locks.begin(), locks.end(), [&](const HeldLock& each) {
    return each.holder == handle && each.lock.range == range;
  });
  if (held == locks.end()) return Refusal::kRangeNotLocked;
  locks.erase(held);
  return {};
}

kyanite::Result<void, Refusal> OpenFiles::check_io(HandleId handle, ByteRange range,
                                                   bool write) const {
  const Shard& mine = shard(handle);
  std::lock_guard lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
  if (range.length == 0) return {};
  for (const HeldLock& held : mine.files.at(found->second.file).locks) {
    const bool own = held.holder == handle;
    const bool forbids = write ? !own || !held.lock.exclusive : !own && held.lock.exclusive;
    if (forbids && overlap(held.lock.range, range)) return Refusal::kLockConflict;
  }
  return {};
}

}  // namespace kyanite::tree
