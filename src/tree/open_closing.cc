// Closing handles and marking files for deletion: see tree/open_files.h.
#include <utility>

#include "tree/aftermath.h"
#include "tree/open_files.h"

namespace kyanite::tree {

using concurrency::FileOperation;

OpenFiles::Closed OpenFiles::close_in(Shard& shard, std::map<HandleId, Handle>::iterator handle,
                                      Aftermath& after) {
  Closed closed;
  if (handle->second.delete_on_close) {
    mark(shard, handle->second.file);
    after.end_watches(handle->second.file);
  }
  Handle removed = remove(shard, handle, after);
  if (shard.files.at(removed.file).handles.empty() && shard.delete_pending.contains(removed.file))
    closed.removal = note(shard, removed.file, FileOperation::kDeleteFile);
  forget_if_idle(shard, removed.file);
  closed.handle = removed;
  after.uncount(std::move(removed));
  return closed;
}

kyanite::Result<OpenFiles::Closed, Refusal> OpenFiles::close(HandleId handle) {
  Aftermath after(*this);
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
  return close_in(mine, found, after);
}

kyanite::Result<OpenFiles::Closed, Refusal> OpenFiles::withdraw(HandleId handle) {
  Aftermath after(*this);
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
  found->second.delete_on_close = false;
  return close_in(mine, found, after);
}

void OpenFiles::spare(HandleId handle) {
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found != mine.handles.end()) found->second.delete_on_close = false;
}

Task<kyanite::Result<void, Refusal>> OpenFiles::keep_off(HandleId handle, const MayClose& may) {
  Shard& mine = shard(handle);
  bool begun = false;
  while (true) {
    Wait wait;
    {
      MutexLock lock(mine.mutex);
      const auto found = mine.handles.find(handle);
      if (found == mine.handles.end()) co_return Refusal::kNoSuchHandle;
      const FileKey key = found->second.file;
      File& file = mine.files.at(key);
      if (!begun) {
        if (const auto not_now = may(found->second, mine.delete_pending.contains(key)))
          co_return *not_now;
        begun = true;
        ++found->second.closing;
        ++file.closing;
      }
      if (file.in_flight.empty()) co_return kyanite::Result<void, Refusal>();
      file.waiting.push_back(&wait);
    }
    co_await wait.turn;
  }
}

Task<void> OpenFiles::begin_closing(HandleId handle) {
  const MayClose marks = [](const Handle& closing, bool marked) -> std::optional<Refusal> {
    if (closing.delete_on_close || marked) return std::nullopt;
    return Refusal::kAccessDenied;
  };
  (void)(co_await keep_off(handle, marks)).ok();
}

namespace {

std::optional<Refusal> may_delete(const Handle& handle) {
  if (concurrency::kDeleteAccess.within(handle.mode.access)) return std::nullopt;
  return Refusal::kAccessDenied;
}

}  // namespace

Task<kyanite::Result<void, Refusal>> OpenFiles::begin_marking(HandleId handle) {
  const MayClose may = [](const Handle& marking, bool) { return may_delete(marking); };
  co_return co_await keep_off(handle, may);
}

kyanite::Result<void, Refusal> OpenFiles::end_marking(HandleId handle, bool empty) {
  Aftermath after(*this);
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
  const FileKey key = found->second.file;
  File& file = mine.files.at(key);
  --found->second.closing;
  --file.closing;
  if (empty) {
    mark(mine, key);
    after.end_watches(key);
  }
  wake_all(file, after);
  return {};
}

Task<kyanite::Result<void, Refusal>> OpenFiles::set_delete_pending(HandleId handle, bool pending) {
  Shard& mine = shard(handle);
  Precedence precedence;
  while (true) {
    Wait wait;
    bool cached = false;
    {
      Aftermath after(*this);
      MutexLock lock(mine.mutex);
      const auto found = mine.handles.find(handle);
      if (found == mine.handles.end()) co_return Refusal::kNoSuchHandle;
      if (const auto refusal = may_delete(found->second)) co_return *refusal;
      const FileKey key = found->second.file;
      File& file = mine.files.at(key);
      if (!pending) {
        unmark(mine, key);
        co_return kyanite::Result<void, Refusal>();
      }
      cached = disturb(mine, key, {handle}, rule_of(concurrency::HandleUse::kMove), after);
      if (!cached && file.in_flight.empty()) {
        mark(mine, key);
        after.end_watches(key);
        co_return kyanite::Result<void, Refusal>();
      }
      file.waiting.push_back(&wait);
      if (!cached) take_precedence(file, key, kAllOperations, precedence);
    }
    if (cached) precedence = {};
    co_await wait.turn;
  }
}

kyanite::Result<std::optional<Watchers::WatchId>, Refusal> OpenFiles::watch(HandleId handle,
                                                                            bool recursive,
                                                                            ChangedParts parts) {
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
  found->second.watch = watchers_.watch(found->second.file, recursive, parts);
  return found->second.watch;
}

}  // namespace kyanite::tree
