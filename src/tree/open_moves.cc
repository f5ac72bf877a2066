// Moving files and directories through their handles: see tree/open_files.h.
#include <algorithm>
#include <unordered_set>

#include "tree/aftermath.h"
#include "tree/open_files.h"

namespace kyanite::tree {

using concurrency::FileOperation;

Result<OpenFiles::Admission> OpenFiles::admit_rename_by(HandleId handle, bool directory,
                                                        Precedence& precedence) {
  // Given up once nothing is locked: it has had its turn, or others need not wait as long as this.
  Precedence over;
  Aftermath after(*this);
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto own = mine.handles.find(handle);
  if (own == mine.handles.end()) return Error(Refusal::kNoSuchHandle);
  if (!concurrency::kDeleteAccess.within(own->second.mode.access))
    return Error(Refusal::kAccessDenied);
  const FileKey key = own->second.file;
  File& file = mine.files.at(key);
  if (disturb(mine, key, {handle}, rule_of(concurrency::HandleUse::kMove), after)) {
    over = std::move(precedence);
    return Error(Refusal::kCached);
  }
  if (directory && file.open_below > 0) return Error(Refusal::kAccessDenied);
  for (const HandleId id : file.handles) {
    if (id != handle && !compatible(FileOperation::kRenameFile, mine.handles.at(id).mode))
      return Error(Refusal::kSharingViolation);
  }
  if (!file.in_flight.empty()) {
    take_precedence(file, key, kAllOperations, precedence);
    return Error(Refusal::kCached);
  }
  over = std::move(precedence);
  Admission admission = note(mine, key, FileOperation::kRenameFile);
  file.moving = directory;
  return admission;
}

Task<Result<void>> OpenFiles::release_below(FileKey directory, Deadline deadline) {
  std::unordered_set<FileKey, FileKeyHash> files;
  for (const Handle& handle : list(directory, true, 0, kMaxReleasedHandles)) {
    if (handle.file != directory) files.insert(handle.file);
  }
  const auto asked = [&](FileKey key, Wait* wait) {
    Aftermath after(*this);
    Shard& mine = shard(key);
    MutexLock lock(mine.mutex);
    const auto found = mine.files.find(key);
    if (found == mine.files.end()) return false;
    if (!disturb(mine, key, {}, rule_of(concurrency::HandleUse::kMove), after)) return false;
    if (wait != nullptr) add_timed(mine, key, *wait);
    return true;
  };
  // All are asked before any is waited for.
  std::erase_if(files, [&](FileKey key) { return !asked(key, nullptr); });
  for (const FileKey& key : files) {
    while (true) {
      Wait wait;
      wait.deadline = deadline;
      if (!asked(key, &wait)) break;
      if (!co_await wait.turn) co_return Error(Refusal::kCacheFlushDelay);
    }
  }
  co_return Result<void>();
}

Task<Result<OpenFiles::Admission>> OpenFiles::admit_entering(FileKey directory) {
  Shard& mine = shard(directory);
  MutexLock lock(mine.mutex);
  if (mine.delete_pending.contains(directory)) co_return Error(Refusal::kDeletePending);
  const concurrency::Open entering{concurrency::kWriteAccess,
                                   concurrency::kReadAccess | concurrency::kWriteAccess};
  if (const auto found = mine.files.find(directory); found != mine.files.end()) {
    for (const HandleId id : found->second.handles) {
      if (!compatible(entering, mine.handles.at(id).mode))
        co_return Error(Refusal::kSharingViolation);
    }
  }
  co_return note(mine, directory, FileOperation::kListFiles);
}

bool OpenFiles::is_delete_pending(FileKey file) const {
  if (marked_.load(std::memory_order_relaxed) == 0) return false;
  const Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  return mine.delete_pending.contains(file);
}

Task<void> OpenFiles::wait_for(FileOperation operation, FileKey key) {
  Shard& mine = shard(key);
  while (true) {
    Wait wait;
    {
      MutexLock lock(mine.mutex);
      const auto found = mine.files.find(key);
      if (found == mine.files.end()) co_return;
      File& file = found->second;
      if (std::count(file.in_flight.begin(), file.in_flight.end(), operation) == 0) co_return;
      file.waiting.push_back(&wait);
    }
    co_await wait.turn;
  }
}

}  // namespace kyanite::tree
