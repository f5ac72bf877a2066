// Moving files and directories through their handles: see tree/open_files.h.
#include <algorithm>
#include <unordered_set>

#include "tree/aftermath.h"
#include "tree/open_files.h"

namespace kyanite::tree {

using concurrency::FileOperation;

Task<Result<OpenFiles::Admission>> OpenFiles::admit_rename_by(HandleId handle, bool directory) {
  Shard& mine = shard(handle);
  while (true) {
    Wait wait;
    {
      MutexLock lock(mine.mutex);
      const auto own = mine.handles.find(handle);
      if (own == mine.handles.end()) co_return Error(Refusal::kNoSuchHandle);
      if (!concurrency::kDeleteAccess.within(own->second.mode.access))
        co_return Error(Refusal::kAccessDenied);
      const FileKey key = own->second.file;
      File& file = mine.files.at(key);
      if (directory && file.open_below > 0) co_return Error(Refusal::kAccessDenied);
      for (const HandleId id : file.handles) {
        if (id != handle && !compatible(FileOperation::kRenameFile, mine.handles.at(id).mode))
          co_return Error(Refusal::kSharingViolation);
      }
      if (file.in_flight.empty()) {
        Admission admission = note(mine, key, FileOperation::kRenameFile);
        file.moving = directory;
        co_return admission;
      }
      file.waiting.push_back(&wait);
    }
    co_await wait.turn;
  }
}

Task<void> OpenFiles::release_below(FileKey directory) {
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
    if (wait != nullptr) found->second.waiting.push_back(wait);
    return true;
  };
  // All are asked before any is waited for.
  std::erase_if(files, [&](FileKey key) { return !asked(key, nullptr); });
  for (const FileKey& key : files) {
    while (true) {
      Wait wait;
      if (!asked(key, &wait)) break;
      co_await wait.turn;
    }
  }
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

Task<void> OpenFiles::wait_for_rename(FileKey key) {
  Shard& mine = shard(key);
  while (true) {
    Wait wait;
    {
      MutexLock lock(mine.mutex);
      const auto found = mine.files.find(key);
      if (found == mine.files.end()) co_return;
      File& file = found->second;
      if (std::count(file.in_flight.begin(), file.in_flight.end(), FileOperation::kRenameFile) == 0)
        co_return;
      file.waiting.push_back(&wait);
    }
    co_await wait.turn;
  }
}

}  // namespace kyanite::tree
