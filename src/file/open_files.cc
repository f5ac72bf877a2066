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
    if (file.handles.empty() && file.in_flight.empty()) file.delete_pending = false;
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

std::optional<Refusal> OpenFiles::refuse(const File& file, FileOperation operation) const {
  if (file.delete_pending) return Refusal::kDeletePending;
  for (const HandleId id : file.handles) {
    if (!compatible(operation, handles_.at(id).mode)) return Refusal::kSharingViolation;
  }
  // REST writes do not look which range they would touch.
  if (operation == FileOperation::kPutRange && !file.locks.empty()) return Refusal::kLockConflict;
  return std::nullopt;
}

Task<wire::Result<OpenFiles::Admission>> OpenFiles::admit(FileKey key, FileOperation operation) {
  std::lock_guard lock(mutex_);
  if (const File* file = find_file(key)) {
    if (const auto refusal = refuse(*file, operation)) co_return rest_error(*refusal);
  }
  co_return note(key, operation);
}

Task<wire::Result<OpenFiles::Admission>> OpenFiles::admit_directory_rename(FileKey directory) {
  std::lock_guard lock(mutex_);
  if (const File* file = find_file(directory)) {
    const auto refusal = refuse(*file, FileOperation::kRenameFile);
    if (refusal) co_return rest_error(*refusal);
    if (file->open_below > 0) co_return rest_error(Refusal::kSharingViolation);
  }
  Admission admission = note(directory, FileOperation::kRenameFile);
  files_.at(directory).moving = true;
  co_return admission;
}

std::unordered_set<uint64_t> OpenFiles::delete_pending(store::SpaceId share) const {
  std::unordered_set<uint64_t> pending;
  std::lock_guard lock(mutex_);
  for (const FileKey& key : delete_pending_) {
    if (key.share == share) pending.insert(key.id);
  }
  return pending;
}
