// What is open as REST lists it and ends it: see tree/open_files.h.
#include <algorithm>
#include <iterator>

#include "tree/aftermath.h"
#include "tree/open_files.h"

namespace kyanite::tree {

std::unordered_set<uint64_t> OpenFiles::delete_pending(store::SpaceId share) const {
  std::unordered_set<uint64_t> pending;
  if (marked_.load() == 0) return pending;
  for (const Shard& each : shards_) {
    MutexLock lock(each.mutex);
    for (const FileKey& key : each.delete_pending) {
      if (key.share == share) pending.insert(key.id);
    }
  }
  return pending;
}

namespace {

bool is_at(const Handle& handle, FileKey file, bool recursive) {
  if (handle.file == file) return true;
  if (!recursive || handle.file.share != file.share) return false;
  return std::find(handle.ancestors.begin(), handle.ancestors.end(), file.id) !=
         handle.ancestors.end();
}

bool by_id(const Handle& a, const Handle& b) { return a.id < b.id; }

// Handles of another shard, both in order: the first `most` of all.
void merge(std::vector<Handle>& listed, std::vector<Handle> more, size_t most) {
  const auto middle = static_cast<std::ptrdiff_t>(listed.size());
  std::move(more.begin(), more.end(), std::back_inserter(listed));
  std::inplace_merge(listed.begin(), listed.begin() + middle, listed.end(), by_id);
  if (listed.size() > most) listed.resize(most);
}

}  // namespace

std::vector<Handle> OpenFiles::list(FileKey file, bool recursive, HandleId after,
                                    size_t most) const {
  std::vector<Handle> listed;
  if (most == 0) return listed;
  const Shard& own = shard(file);
  {
    MutexLock lock(own.mutex);
    const auto found = own.files.find(file);
    if (found == own.files.end()) return listed;
    if (!recursive || found->second.open_below == 0) {
      std::vector<HandleId> ids = found->second.handles;
      std::sort(ids.begin(), ids.end());
      for (auto id = std::upper_bound(ids.begin(), ids.end(), after);
           id != ids.end() && listed.size() < most; ++id)
        listed.push_back(own.handles.at(*id));
      return listed;
    }
  }
  for (const Shard& each : shards_) {
    std::vector<Handle> more;
    {
      MutexLock lock(each.mutex);
      for (auto handle = each.handles.upper_bound(after);
           handle != each.handles.end() && more.size() < most; ++handle) {
        if (listed.size() == most && handle->first > listed.back().id) break;
        if (is_at(handle->second, file, true)) more.push_back(handle->second);
      }
    }
    merge(listed, std::move(more), most);
  }
  return listed;
}

void OpenFiles::remove_by_force(Shard& shard, std::map<HandleId, Handle>::iterator handle,
                                Aftermath& after) {
  Handle removed = remove(shard, handle, after);
  if (shard.files.at(removed.file).handles.empty()) unmark(shard, removed.file);
  forget_if_idle(shard, removed.file);
  after.uncount(std::move(removed));
}

bool OpenFiles::force_close(FileKey file, bool recursive, HandleId handle) {
  Aftermath after(*this);
  Shard& mine = shard(handle);
  MutexLock lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end() || !is_at(found->second, file, recursive)) return false;
  remove_by_force(mine, found, after);
  return true;
}

template <class Meant>
size_t OpenFiles::force_close_in(Shard& shard, Meant meant) {
  size_t closed = 0;
  Aftermath after(*this);
  MutexLock lock(shard.mutex);
  for (auto next = shard.handles.begin(); next != shard.handles.end();) {
    const auto handle = next++;
    if (!meant(handle->second)) continue;
    remove_by_force(shard, handle, after);
    ++closed;
  }
  return closed;
}

size_t OpenFiles::force_close_all(FileKey file, bool recursive) {
  const auto meant = [&](const Handle& handle) { return is_at(handle, file, recursive); };
  if (!recursive) return force_close_in(shard(file), meant);
  size_t closed = 0;
  for (Shard& each : shards_) closed += force_close_in(each, meant);
  return closed;
}

bool OpenFiles::is_being_removed(FileKey key) const {
  const Shard& mine = shard(key);
  MutexLock lock(mine.mutex);
  const auto file = mine.files.find(key);
  if (file == mine.files.end()) return false;
  const auto& in_flight = file->second.in_flight;
  return std::count(in_flight.begin(), in_flight.end(), concurrency::FileOperation::kDeleteFile) >
         0;
}

bool OpenFiles::has_writer(FileKey key) const {
  const Shard& mine = shard(key);
  MutexLock lock(mine.mutex);
  const auto file = mine.files.find(key);
  if (file == mine.files.end()) return false;
  const auto& handles = file->second.handles;
  return std::any_of(handles.begin(), handles.end(), [&](HandleId id) REQUIRES(mine.mutex) {
    return concurrency::kWriteAccess.within(mine.handles.at(id).mode.access);
  });
}

void OpenFiles::force_close_share(store::SpaceId share) {
  const auto meant = [&](const Handle& handle) { return handle.file.share == share; };
  // First: who opens something behind the closing sees it.
  ++deletions_;
  for (Shard& each : shards_) force_close_in(each, meant);
  snapshots_.end_share(share);
  watchers_.end_share(share);
}

void OpenFiles::note_doubtful_deletion() {
  constexpr int64_t kSecondsOfDoubt = 600;
  doubt_until_ = after_seconds(clock_.moment(), kSecondsOfDoubt).ticks;
}

void OpenFiles::force_close_snapshot(store::SpaceId share, Generation shown) {
  ++deletions_;
  snapshots_.end(share, shown);
  watchers_.end_shown(share, shown);
}

}  // namespace kyanite::tree
