#include "tree/open_files.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/random.h"
#include "tree/drafts.h"

namespace kyanite::tree {

using concurrency::FileOperation;

// A start that differs between runs, so that a handle id noted before a restart meets nothing.
OpenFiles::OpenFiles()
    : drafts_(std::make_unique<Drafts>(*this)), next_handle_((random_u64() >> 24) + 1) {}
OpenFiles::~OpenFiles() = default;

// --- Shards ---

size_t OpenFiles::hash(const FileKey& key) {
  // Ids are random, spaces and the ids of roots are not.
  return (key.share * 0x9E3779B97F4A7C15u ^ key.id) * 0xD6E8FEB86659FD93u;
}

OpenFiles::ShardSet OpenFiles::shards_of(store::SpaceId share, const std::vector<uint64_t>& ids) {
  ShardSet set = 0;
  for (const uint64_t id : ids) set |= ShardSet{1} << shard_of(FileKey{share, id});
  return set;
}

// Several shards at once, in one order for all, so that no two wait for each other.
class OpenFiles::LockedShards {
 public:
  LockedShards(OpenFiles& table, ShardSet set) : table_(table), set_(set) {
    for (ShardSet left = set_; left != 0; left &= left - 1) at(left).mutex.lock();
  }
  ~LockedShards() {
    for (ShardSet left = set_; left != 0; left &= left - 1) at(left).mutex.unlock();
  }
  LockedShards(const LockedShards&) = delete;
  LockedShards& operator=(const LockedShards&) = delete;

 private:
  Shard& at(ShardSet left) const {
    return table_.shards_[static_cast<size_t>(std::countr_zero(left))];
  }

  OpenFiles& table_;
  const ShardSet set_;
};

OpenFiles::File* OpenFiles::find_file(const FileKey& key) {
  auto& files = shard(key).files;
  const auto found = files.find(key);
  return found == files.end() ? nullptr : &found->second;
}

// --- Admissions ---

OpenFiles::Admission& OpenFiles::Admission::operator=(Admission&& other) noexcept {
  if (this != &other) {
    leave();
    table_ = std::exchange(other.table_, nullptr);
    file_ = other.file_;
    operation_ = other.operation_;
  }
  return *this;
}

void OpenFiles::Admission::leave() {
  if (table_ == nullptr) return;
  OpenFiles& table = *std::exchange(table_, nullptr);
  std::vector<Turn*> waiting;
  {
    Shard& shard = table.shard(file_);
    std::lock_guard lock(shard.mutex);
    File& file = shard.files.at(file_);
    file.in_flight.erase(std::find(file.in_flight.begin(), file.in_flight.end(), operation_));
    waiting.swap(file.waiting);
    if (operation_ == FileOperation::kRenameFile)
      file.moving = std::count(file.in_flight.begin(), file.in_flight.end(), operation_) > 0;
    // Without handles the mark was kept for the removal that is over now.
    if (file.handles.empty() && file.in_flight.empty()) table.unmark(shard, file_);
    forget_if_idle(shard, file_);
  }
  for (Turn* turn : waiting) turn->set(true);
}

void OpenFiles::Admission::renamed(std::vector<uint64_t> ancestors, std::string path) {
  OpenFiles& table = *table_;
  Shard& shard = table.shard(file_);
  const auto above = [&] {
    ShardSet set = 0;
    for (const HandleId id : shard.files.at(file_).handles)
      set |= shards_of(file_.share, shard.handles.at(id).ancestors);
    return set;
  };
  const ShardSet fixed = shards_of(file_.share, ancestors) | ShardSet{1} << shard_of(file_);
  // Handles that are opened meanwhile may hang elsewhere.
  for (ShardSet wanted = fixed;;) {
    LockedShards locked(table, wanted);
    const ShardSet needed = fixed | above();
    if ((needed & ~wanted) != 0) {
      wanted |= needed;
      continue;
    }
    for (const HandleId id : shard.files.at(file_).handles) {
      Handle& handle = shard.handles.at(id);
      table.count_below(handle, false);
      handle.ancestors = ancestors;
      handle.path = path;
      ++handle.moves;
      table.count_below(handle, true);
    }
    break;
  }
  table.drafts_->moved(file_, ancestors.empty() ? kRootId : ancestors.back(), path);
}

OpenFiles::Admission OpenFiles::note(Shard& shard, FileKey key, FileOperation operation) {
  shard.files[key].in_flight.push_back(operation);
  return Admission(this, key, operation);
}

std::optional<Refusal> OpenFiles::refuse(const Shard& shard, FileKey key, FileOperation operation) {
  const auto found = shard.files.find(key);
  if (found == shard.files.end()) return std::nullopt;
  const File& file = found->second;
  if (shard.delete_pending.contains(key)) return Refusal::kDeletePending;
  for (const HandleId id : file.handles) {
    if (!compatible(operation, shard.handles.at(id).mode)) return Refusal::kSharingViolation;
  }
  // REST writes do not look which range they would touch.
  if (operation == FileOperation::kPutRange && !file.locks.empty()) return Refusal::kLockConflict;
  return std::nullopt;
}

Task<Result<OpenFiles::Admission>> OpenFiles::admit(FileKey key, FileOperation operation) {
  if (!idle()) {
    if (auto settled = co_await drafts_->settle(key); !settled) co_return settled.error();
  }
  Shard& mine = shard(key);
  std::lock_guard lock(mine.mutex);
  if (const auto refusal = refuse(mine, key, operation)) co_return Error(*refusal);
  co_return note(mine, key, operation);
}

Task<Result<void>> OpenFiles::admit_reader(FileKey key, FileOperation operation) {
  if (!idle()) {
    if (auto settled = co_await drafts_->settle(key); !settled) co_return settled.error();
  }
  const Shard& mine = shard(key);
  std::lock_guard lock(mine.mutex);
  if (const auto refusal = refuse(mine, key, operation)) co_return Error(*refusal);
  co_return Result<void>();
}

Task<Result<OpenFiles::Admission>> OpenFiles::admit_directory_rename(FileKey directory) {
  Shard& mine = shard(directory);
  std::lock_guard lock(mine.mutex);
  const auto refusal = refuse(mine, directory, FileOperation::kRenameFile);
  if (refusal) co_return Error(*refusal);
  const auto found = mine.files.find(directory);
  if (found != mine.files.end() && found->second.open_below > 0)
    co_return Error(Refusal::kSharingViolation);
  Admission admission = note(mine, directory, FileOperation::kRenameFile);
  mine.files.at(directory).moving = true;
  co_return admission;
}

Task<Result<OpenFiles::Admission>> OpenFiles::admit_rename_by(HandleId handle, bool directory) {
  Shard& mine = shard(handle);
  while (true) {
    Turn turn;
    {
      std::lock_guard lock(mine.mutex);
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
      file.waiting.push_back(&turn);
    }
    co_await turn;
  }
}

Task<Result<OpenFiles::Admission>> OpenFiles::admit_entering(FileKey directory) {
  Shard& mine = shard(directory);
  std::lock_guard lock(mine.mutex);
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
  std::lock_guard lock(mine.mutex);
  return mine.delete_pending.contains(file);
}

Task<void> OpenFiles::wait_for_rename(FileKey key) {
  Shard& mine = shard(key);
  while (true) {
    Turn turn;
    {
      std::lock_guard lock(mine.mutex);
      const auto found = mine.files.find(key);
      if (found == mine.files.end()) co_return;
      File& file = found->second;
      if (std::count(file.in_flight.begin(), file.in_flight.end(), FileOperation::kRenameFile) == 0)
        co_return;
      file.waiting.push_back(&turn);
    }
    co_await turn;
  }
}

// --- Handles as REST sees them ---

std::unordered_set<uint64_t> OpenFiles::delete_pending(store::SpaceId share) const {
  std::unordered_set<uint64_t> pending;
  if (marked_.load() == 0) return pending;
  for (const Shard& each : shards_) {
    std::lock_guard lock(each.mutex);
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
    std::lock_guard lock(own.mutex);
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
      std::lock_guard lock(each.mutex);
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

Handle OpenFiles::remove_by_force(Shard& shard, std::map<HandleId, Handle>::iterator handle) {
  Handle removed = remove(shard, handle);
  if (shard.files.at(removed.file).handles.empty()) unmark(shard, removed.file);
  forget_if_idle(shard, removed.file);
  return removed;
}

bool OpenFiles::force_close(FileKey file, bool recursive, HandleId handle) {
  Shard& mine = shard(handle);
  Handle removed;
  {
    std::lock_guard lock(mine.mutex);
    const auto found = mine.handles.find(handle);
    if (found == mine.handles.end() || !is_at(found->second, file, recursive)) return false;
    removed = remove_by_force(mine, found);
  }
  uncount(removed);
  return true;
}

template <class Meant>
size_t OpenFiles::force_close_in(Shard& shard, Meant meant) {
  std::vector<Handle> removed;
  {
    std::lock_guard lock(shard.mutex);
    for (auto next = shard.handles.begin(); next != shard.handles.end();) {
      const auto handle = next++;
      if (meant(handle->second)) removed.push_back(remove_by_force(shard, handle));
    }
  }
  for (const Handle& handle : removed) uncount(handle);
  return removed.size();
}

size_t OpenFiles::force_close_all(FileKey file, bool recursive) {
  const auto meant = [&](const Handle& handle) { return is_at(handle, file, recursive); };
  if (!recursive) return force_close_in(shard(file), meant);
  size_t closed = 0;
  for (Shard& each : shards_) closed += force_close_in(each, meant);
  return closed;
}

void OpenFiles::force_close_share(store::SpaceId share) {
  const auto meant = [&](const Handle& handle) { return handle.file.share == share; };
  for (Shard& each : shards_) force_close_in(each, meant);
}

// --- Opens ---

std::optional<Refusal> OpenFiles::refuse(const Shard& shard, const FileOpen& request) {
  if (shard.delete_pending.contains(request.file)) return Refusal::kDeletePending;
  const auto found = shard.files.find(request.file);
  if (found == shard.files.end()) return std::nullopt;
  const File& file = found->second;
  const concurrency::Open mode{request.mode.access | request.besides, request.mode.share};
  for (const HandleId id : file.handles) {
    if (!compatible(mode, shard.handles.at(id).mode)) return Refusal::kSharingViolation;
  }
  if (file.handles.size() >= kMaxHandlesPerFile) return Refusal::kTooManyHandles;
  return std::nullopt;
}

OpenFiles::File* OpenFiles::in_the_way(const FileOpen& request) {
  if (File* file = find_file(request.file)) {
    for (const FileOperation operation : file->in_flight) {
      if (!compatible(operation, request.mode)) return file;
    }
  }
  for (const uint64_t ancestor : request.ancestors) {
    File* directory = find_file({request.file.share, ancestor});
    if (directory != nullptr && directory->moving) return directory;
  }
  return nullptr;
}

HandleId OpenFiles::add(FileOpen request) {
  const FileKey key = request.file;
  Shard& mine = shard(key);
  const HandleId id = next_handle_.fetch_add(1) << kShardBits | shard_of(key);
  mine.files[key].handles.push_back(id);
  ++open_;
  const auto added = mine.handles.emplace(id, Handle{std::move(request), id}).first;
  count_below(added->second, true);
  return id;
}

Task<kyanite::Result<HandleId, Refusal>> OpenFiles::open(FileOpen request) {
  const ShardSet set =
      shards_of(request.file.share, request.ancestors) | ShardSet{1} << shard_of(request.file);
  while (true) {
    Turn turn;
    {
      LockedShards locked(*this, set);
      if (const auto refusal = refuse(shard(request.file), request)) co_return *refusal;
      File* busy = in_the_way(request);
      if (busy == nullptr) co_return add(std::move(request));
      busy->waiting.push_back(&turn);
    }
    co_await turn;
  }
}

std::optional<Handle> OpenFiles::find(HandleId handle) const {
  const Shard& mine = shard(handle);
  std::lock_guard lock(mine.mutex);
  const auto found = mine.handles.find(handle);
  if (found == mine.handles.end()) return std::nullopt;
  return found->second;
}

kyanite::Result<OpenFiles::Closed, Refusal> OpenFiles::close(HandleId handle) {
  Shard& mine = shard(handle);
  Closed closed;
  Handle removed;
  {
    std::lock_guard lock(mine.mutex);
    const auto found = mine.handles.find(handle);
    if (found == mine.handles.end()) return Refusal::kNoSuchHandle;
    if (found->second.delete_on_close) mark(mine, found->second.file);
    removed = remove(mine, found);
    if (mine.files.at(removed.file).handles.empty() && mine.delete_pending.contains(removed.file))
      closed.removal = note(mine, removed.file, FileOperation::kDeleteFile);
    forget_if_idle(mine, removed.file);
  }
  uncount(removed);
  return closed;
}

Task<kyanite::Result<void, Refusal>> OpenFiles::set_delete_pending(HandleId handle, bool pending) {
  Shard& mine = shard(handle);
  while (true) {
    Turn turn;
    {
      std::lock_guard lock(mine.mutex);
      const auto found = mine.handles.find(handle);
      if (found == mine.handles.end()) co_return Refusal::kNoSuchHandle;
      if (!concurrency::kDeleteAccess.within(found->second.mode.access))
        co_return Refusal::kAccessDenied;
      const FileKey key = found->second.file;
      File& file = mine.files.at(key);
      if (!pending) {
        unmark(mine, key);
        co_return kyanite::Result<void, Refusal>();
      }
      if (file.in_flight.empty()) {
        mark(mine, key);
        co_return kyanite::Result<void, Refusal>();
      }
      file.waiting.push_back(&turn);
    }
    co_await turn;
  }
}

// --- Bookkeeping ---

Handle OpenFiles::remove(Shard& shard, std::map<HandleId, Handle>::iterator handle) {
  const HandleId id = handle->first;
  File& file = shard.files.at(handle->second.file);
  std::erase(file.handles, id);
  std::erase_if(file.locks, [&](const HeldLock& held) { return held.holder == id; });
  Handle removed = std::move(handle->second);
  shard.handles.erase(handle);
  --open_;
  return removed;
}

void OpenFiles::count_below(const Handle& handle, bool opened) {
  for (const uint64_t ancestor : handle.ancestors) {
    const FileKey key{handle.file.share, ancestor};
    Shard& above = shard(key);
    File& directory = above.files[key];
    if (opened) {
      ++directory.open_below;
    } else {
      --directory.open_below;
    }
    forget_if_idle(above, key);
  }
}

void OpenFiles::uncount(const Handle& handle) {
  for (const uint64_t ancestor : handle.ancestors) {
    const FileKey key{handle.file.share, ancestor};
    Shard& above = shard(key);
    std::lock_guard lock(above.mutex);
    --above.files.at(key).open_below;
    forget_if_idle(above, key);
  }
}

void OpenFiles::mark(Shard& shard, FileKey key) {
  if (shard.delete_pending.insert(key).second) ++marked_;
}

void OpenFiles::unmark(Shard& shard, FileKey key) {
  if (shard.delete_pending.erase(key) != 0) --marked_;
}

void OpenFiles::forget_if_idle(Shard& shard, FileKey key) {
  const auto found = shard.files.find(key);
  if (found != shard.files.end() && found->second.idle()) shard.files.erase(found);
}

}  // namespace kyanite::tree
