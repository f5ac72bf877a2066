#include "file/open_files.h"

#include <algorithm>
#include <limits>

#include "base/random.h"

namespace kyanite::file {

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

wire::Error rest_error(Refusal refusal) {
  switch (refusal) {
    case Refusal::kSharingViolation:
      return wire::Code::kSharingViolation;
    case Refusal::kDeletePending:
      return wire::Code::kSMBDeletePending;
    case Refusal::kLockConflict:
      return wire::Code::kFileLockConflict;
    case Refusal::kRangeNotLocked:
    case Refusal::kAccessDenied:
    case Refusal::kTooManyHandles:
    case Refusal::kNoSuchHandle:
      break;  // Of handles, which REST has none of.
  }
  CHECK(false);
}

}  // namespace

// A start that differs between runs, so that a handle id noted before a restart meets nothing.
OpenFiles::OpenFiles() : next_handle_((random_u64() >> 24) + 1) {}

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
    std::lock_guard lock(table.mutex_);
    File& file = table.files_.at(file_);
    file.in_flight.erase(std::find(file.in_flight.begin(), file.in_flight.end(), operation_));
    waiting.swap(file.waiting);
    if (operation_ == FileOperation::kRenameFile)
      file.moving = std::count(file.in_flight.begin(), file.in_flight.end(), operation_) > 0;
    // Without handles the mark was kept for the removal that is over now.
    if (file.handles.empty() && file.in_flight.empty()) table.delete_pending_.erase(file_);
    table.forget_if_idle(file_);
  }
  for (Turn* turn : waiting) turn->set(true);
}

void OpenFiles::Admission::renamed(std::vector<uint64_t> ancestors, std::string path) {
  std::lock_guard lock(table_->mutex_);
  const std::vector<HandleId> open = table_->files_.at(file_).handles;
  for (const HandleId id : open) {
    Handle& handle = table_->handles_.at(id);
    table_->count_below(handle, false);
    handle.ancestors = ancestors;
    handle.path = path;
    table_->count_below(handle, true);
  }
}

OpenFiles::Admission OpenFiles::note(FileKey key, FileOperation operation) {
  files_[key].in_flight.push_back(operation);
  return Admission(this, key, operation);
}

std::optional<Refusal> OpenFiles::refuse(FileKey key, FileOperation operation) const {
  const auto found = files_.find(key);
  if (found == files_.end()) return std::nullopt;
  const File& file = found->second;
  if (delete_pending_.contains(key)) return Refusal::kDeletePending;
  for (const HandleId id : file.handles) {
    if (!compatible(operation, handles_.at(id).mode)) return Refusal::kSharingViolation;
  }
  // REST writes do not look which range they would touch.
  if (operation == FileOperation::kPutRange && !file.locks.empty()) return Refusal::kLockConflict;
  return std::nullopt;
}

Task<wire::Result<OpenFiles::Admission>> OpenFiles::admit(FileKey key, FileOperation operation) {
  std::lock_guard lock(mutex_);
  if (const auto refusal = refuse(key, operation)) co_return rest_error(*refusal);
  co_return note(key, operation);
}

Task<wire::Result<void>> OpenFiles::admit_reader(FileKey key, FileOperation operation) {
  std::lock_guard lock(mutex_);
  if (const auto refusal = refuse(key, operation)) co_return rest_error(*refusal);
  co_return wire::Result<void>();
}

Task<wire::Result<OpenFiles::Admission>> OpenFiles::admit_directory_rename(FileKey directory) {
  std::lock_guard lock(mutex_);
  const auto refusal = refuse(directory, FileOperation::kRenameFile);
  if (refusal) co_return rest_error(*refusal);
  const auto found = files_.find(directory);
  if (found != files_.end() && found->second.open_below > 0)
    co_return rest_error(Refusal::kSharingViolation);
  Admission admission = note(directory, FileOperation::kRenameFile);
  files_.at(directory).moving = true;
  co_return admission;
}

// --- Handles as REST sees them ---

std::unordered_set<uint64_t> OpenFiles::delete_pending(store::SpaceId share) const {
  std::unordered_set<uint64_t> pending;
  std::lock_guard lock(mutex_);
  for (const FileKey& key : delete_pending_) {
    if (key.share == share) pending.insert(key.id);
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
}  // namespace

std::vector<Handle> OpenFiles::list(FileKey file, bool recursive, HandleId after,
                                    size_t most) const {
  std::vector<Handle> listed;
  std::lock_guard lock(mutex_);
  if (!files_.contains(file)) return listed;
  for (auto handle = handles_.upper_bound(after); handle != handles_.end(); ++handle) {
    if (listed.size() == most) break;
    if (is_at(handle->second, file, recursive)) listed.push_back(handle->second);
  }
  return listed;
}

bool OpenFiles::force_close(FileKey file, bool recursive, HandleId handle) {
  std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end() || !is_at(found->second, file, recursive)) return false;
  const FileKey key = found->second.file;
  if (remove(handle)) delete_pending_.erase(key);
  forget_if_idle(key);
  return true;
}

size_t OpenFiles::force_close_all(FileKey file, bool recursive) {
  size_t closed = 0;
  for (const Handle& handle : list(file, recursive, 0, std::numeric_limits<size_t>::max()))
    closed += force_close(file, recursive, handle.id) ? 1 : 0;
  return closed;
}

void OpenFiles::force_close_share(store::SpaceId share) {
  std::lock_guard lock(mutex_);
  for (auto next = handles_.begin(); next != handles_.end();) {
    const auto handle = next++;
    const FileKey key = handle->second.file;
    if (key.share != share) continue;
    if (remove(handle->first)) delete_pending_.erase(key);
    forget_if_idle(key);
  }
}

// --- Opens ---

std::optional<Refusal> OpenFiles::refuse(const FileOpen& request) const {
  if (delete_pending_.contains(request.file)) return Refusal::kDeletePending;
  const auto found = files_.find(request.file);
  if (found == files_.end()) return std::nullopt;
  const File& file = found->second;
  for (const HandleId id : file.handles) {
    if (!compatible(request.mode, handles_.at(id).mode)) return Refusal::kSharingViolation;
  }
  if (file.handles.size() >= kMaxHandlesPerFile) return Refusal::kTooManyHandles;
  return std::nullopt;
}

OpenFiles::File* OpenFiles::in_the_way(const FileOpen& request) {
  if (const auto found = files_.find(request.file); found != files_.end()) {
    for (const FileOperation operation : found->second.in_flight) {
      if (!compatible(operation, request.mode)) return &found->second;
    }
  }
  for (const uint64_t ancestor : request.ancestors) {
    const auto found = files_.find({request.file.share, ancestor});
    if (found != files_.end() && found->second.moving) return &found->second;
  }
  return nullptr;
}

HandleId OpenFiles::add(FileOpen request) {
  const HandleId id = next_handle_++;
  files_[request.file].handles.push_back(id);
  const auto added = handles_.emplace(id, Handle{std::move(request), id}).first;
  count_below(added->second, true);
  return id;
}

Task<Result<HandleId, Refusal>> OpenFiles::open(FileOpen request) {
  while (true) {
    Turn turn;
    {
      std::lock_guard lock(mutex_);
      if (const auto refusal = refuse(request)) co_return *refusal;
      File* busy = in_the_way(request);
      if (busy == nullptr) co_return add(std::move(request));
      busy->waiting.push_back(&turn);
    }
    co_await turn;
  }
}

std::optional<Handle> OpenFiles::find(HandleId handle) const {
  std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return std::nullopt;
  return found->second;
}

Result<OpenFiles::Closed, Refusal> OpenFiles::close(HandleId handle) {
  std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return Refusal::kNoSuchHandle;
  const FileKey key = found->second.file;
  if (found->second.delete_on_close) delete_pending_.insert(key);
  const bool last = remove(handle);
  Closed closed;
  if (last && delete_pending_.contains(key)) closed.removal = note(key, FileOperation::kDeleteFile);
  forget_if_idle(key);
  return closed;
}

Task<Result<void, Refusal>> OpenFiles::set_delete_pending(HandleId handle, bool pending) {
  while (true) {
    Turn turn;
    {
      std::lock_guard lock(mutex_);
      const auto found = handles_.find(handle);
      if (found == handles_.end()) co_return Refusal::kNoSuchHandle;
      if (!concurrency::kDeleteAccess.within(found->second.mode.access))
        co_return Refusal::kAccessDenied;
      const FileKey key = found->second.file;
      File& file = files_.at(key);
      if (!pending) {
        delete_pending_.erase(key);
        co_return Result<void, Refusal>();
      }
      if (file.in_flight.empty()) {
        delete_pending_.insert(key);
        co_return Result<void, Refusal>();
      }
      file.waiting.push_back(&turn);
    }
    co_await turn;
  }
}

// --- Byte-range locks ---

namespace {
// An exclusive lock meets every other one, except a shared one that its own holder puts over it.
bool conflict(const RangeLock& held, const RangeLock& asked, bool same_holder) {
  if (!held.exclusive && !asked.exclusive) return false;
  if (same_holder && held.exclusive && !asked.exclusive) return false;
  return overlap(held.range, asked.range);
}
}  // namespace

Task<Result<void, Refusal>> OpenFiles::lock(HandleId handle, std::vector<RangeLock> locks) {
  while (true) {
    Turn turn;
    {
      std::lock_guard lock(mutex_);
      const auto found = handles_.find(handle);
      if (found == handles_.end()) co_return Refusal::kNoSuchHandle;
      constexpr auto kEither = concurrency::kReadAccess | concurrency::kWriteAccess;
      if ((found->second.mode.access & kEither).empty()) co_return Refusal::kAccessDenied;
      File& file = files_.at(found->second.file);
      const bool writing = std::find(file.in_flight.begin(), file.in_flight.end(),
                                     FileOperation::kPutRange) != file.in_flight.end();
      if (!writing) co_return add_locks(file, handle, locks);
      file.waiting.push_back(&turn);
    }
    co_await turn;
  }
}

Result<void, Refusal> OpenFiles::add_locks(File& file, HandleId holder,
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

Result<void, Refusal> OpenFiles::unlock(HandleId handle, ByteRange range) {
  std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return Refusal::kNoSuchHandle;
  auto& locks = files_.at(found->second.file).locks;
  const auto held = std::find_if(locks.begin(), locks.end(), [&](const HeldLock& each) {
    return each.holder == handle && each.lock.range == range;
  });
  if (held == locks.end()) return Refusal::kRangeNotLocked;
  locks.erase(held);
  return {};
}

Result<void, Refusal> OpenFiles::check_io(HandleId handle, ByteRange range, bool write) const {
  std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return Refusal::kNoSuchHandle;
  if (range.length == 0) return {};
  for (const HeldLock& held : files_.at(found->second.file).locks) {
    const bool own = held.holder == handle;
    const bool forbids = write ? !own || !held.lock.exclusive : !own && held.lock.exclusive;
    if (forbids && overlap(held.lock.range, range)) return Refusal::kLockConflict;
  }
  return {};
}

// --- Bookkeeping ---

bool OpenFiles::remove(HandleId id) {
  const auto found = handles_.find(id);
  File& file = files_.at(found->second.file);
  std::erase(file.handles, id);
  std::erase_if(file.locks, [&](const HeldLock& held) { return held.holder == id; });
  const bool last = file.handles.empty();
  count_below(found->second, false);
  handles_.erase(found);
  return last;
}

void OpenFiles::count_below(const Handle& handle, bool opened) {
  for (const uint64_t ancestor : handle.ancestors) {
    const FileKey key{handle.file.share, ancestor};
    File& directory = files_[key];
    if (opened) {
      ++directory.open_below;
    } else {
      --directory.open_below;
    }
    forget_if_idle(key);
  }
}

void OpenFiles::forget_if_idle(FileKey key) {
  const auto found = files_.find(key);
  if (found != files_.end() && found->second.idle()) files_.erase(found);
}

}  // namespace kyanite::file
