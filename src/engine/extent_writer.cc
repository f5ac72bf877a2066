#include "engine/extent_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "os/directory.h"
#include "store/checksum.h"

namespace kyanite::engine {

namespace {

using store::Error;

constexpr uint64_t kBulkRunBytes = 128 * 1024;
// Where there is no room for a whole extent, smaller ones are tried down to this.
constexpr uint64_t kLeastExtentBytes = 2 << 20;
// So many runs are written at once, for which every extent has room.
constexpr size_t kMostTogether = 4;
static_assert(kMostTogether * store::kMaxRunBytes + kPageBytes <= kLeastExtentBytes);

Error error_of(const os::Error& error) {
  log_error(error.what);
  return os::is_out_of_space(error.code) ? Error::kFull : Error::kIo;
}

uint64_t padded(uint64_t length) { return (length + kPageBytes - 1) / kPageBytes * kPageBytes; }

template <class Visit>
void for_each_ref(const store::Commit& commit, Visit visit) {
  for (const auto& write : commit.writes) {
    if (write.record == nullptr) continue;
    for (const auto& ref : write.record->refs) visit(ref);
  }
}

}  // namespace

ExtentWriter::ExtentWriter(const ExtentOptions& options, OpenExtents& readers)
    : directory_(options.directory),
      location_(options.location),
      room_(*options.room),
      readers_(readers),
      extent_bytes_(padded(std::max(options.extent_bytes, kLeastExtentBytes))),
      next_(options.next) {}

ExtentWriter::~ExtentWriter() { seal_all(); }

void ExtentWriter::seal_all() {
  for (auto& track : tracks_) {
    MutexLock lock(track.mutex);
    if (track.extent != nullptr) seal(std::exchange(track.extent, nullptr));
  }
}

store::Result<store::Ref> ExtentWriter::append(Buffer& bytes) {
  auto refs = append_together({&bytes, 1});
  if (!refs) return refs.error();
  return refs->front();
}

store::Result<std::vector<store::Ref>> ExtentWriter::append_all(std::span<Buffer> runs) {
  std::vector<store::Ref> refs;
  while (!runs.empty()) {
    const size_t count = std::min(runs.size(), kMostTogether);
    auto appended = append_together(runs.first(count));
    if (!appended) return appended.error();
    refs.insert(refs.end(), appended->begin(), appended->end());
    runs = runs.subspan(count);
  }
  return refs;
}

store::Result<std::vector<store::Ref>> ExtentWriter::append_together(std::span<Buffer> runs) {
  if (!room_.plenty()) {
    room_.look();
    // No commit would be taken that lists it.
    if (!room_.plenty()) return Error::kFull;
  }
  std::vector<store::Ref> refs;
  uint64_t total = 0;
  for (Buffer& run : runs) {
    const auto length = static_cast<uint32_t>(run.size());
    refs.push_back({0, total, length, store::crc32c(run.view())});
    run.resize(padded(length));
    std::memset(run.data() + length, 0, run.size() - length);
    total += run.size();
  }
  auto reserved = reserve(total);
  if (!reserved) return reserved.error();
  auto written = write(*reserved->extent, runs, reserved->offset);
  finish(*reserved, written.ok());
  if (!written) return error_of(written.error());
  for (store::Ref& ref : refs) {
    ref.extent = reserved->extent->id;
    ref.offset += reserved->offset;
    appended_runs_.fetch_add(1, std::memory_order_relaxed);
    appended_bytes_.fetch_add(ref.length, std::memory_order_relaxed);
  }
  return refs;
}

os::Result<void> ExtentWriter::write(const Extent& extent, std::span<const Buffer> runs,
                                     uint64_t offset) {
  std::vector<std::string_view> pieces;
  for (const Buffer& run : runs) pieces.push_back(run.view());
  if (extent.direct != nullptr) {
    auto written = extent.direct->write_pieces_at(pieces, offset);
    // Cut short by the kernel, what is left need not begin at a page.
    if (written || written.error().code != EINVAL) return written;
  }
  return extent.file->write_pieces_at(pieces, offset);
}

store::Result<ExtentWriter::Reserved> ExtentWriter::reserve(uint64_t length) {
  const bool bulk = length >= kBulkRunBytes;
  Track& track = tracks_[bulk ? 1 : 0];
  MutexLock lock(track.mutex);
  if (track.extent != nullptr) {
    if (auto offset = reserve_in(*track.extent, length)) return Reserved{track.extent, *offset};
  }
  auto created = create(bulk);
  if (!created) return created.error();
  auto before = std::exchange(track.extent, *created);
  if (before != nullptr) seal(before);
  return Reserved{track.extent, *reserve_in(*track.extent, length)};
}

void ExtentWriter::seal(const ExtentPtr& extent) {
  uint64_t end = 0;
  {
    MutexLock lock(extent->mutex);
    extent->sealed = true;
    end = extent->end;
  }
  // Only space is at stake: after a failure the sweep finds the tail dead.
  if (auto cut = extent->file->truncate(end); !cut) log_warning(cut.error().what);
  retire_if_done(extent);
}

std::optional<uint64_t> ExtentWriter::reserve_in(Extent& extent, uint64_t length) {
  MutexLock lock(extent.mutex);
  if (extent.sealed || extent.end + length > extent.capacity) return std::nullopt;
  const uint64_t offset = extent.end;
  extent.end += length;
  extent.writing.insert(offset);
  return offset;
}

store::Result<ExtentWriter::ExtentPtr> ExtentWriter::create(bool bulk) {
  auto extent = std::make_shared<Extent>();
  extent->id = next_++;
  if (announce_) {
    if (auto announced = announce_(extent->id, made_); !announced) return announced.error();
  }
  auto file = create_file(extent->id, extent->capacity);
  if (!file) {
    // The name may stay behind, empty: ids are never used twice, and the sweep removes dead
    // extents.
    (void)os::remove_file(directory_ + "/" + extent_name(extent->id)).ok();
    return file.error();
  }
  extent->file = std::move(*file);
  if (bulk) {
    // Not every file system has it.
    auto direct = os::File::open(extent->file->path(), os::File::Mode::kWriteDirect);
    if (direct) extent->direct = std::move(*direct);
  }
  ExtentId made = made_;
  while (made < extent->id && !made_.compare_exchange_weak(made, extent->id)) {
  }
  readers_.add(extent->id, extent->file);
  MutexLock lock(mutex_);
  extents_.emplace(extent->id, extent);
  return extent;
}

store::Result<std::shared_ptr<const os::File>> ExtentWriter::create_file(ExtentId id,
                                                                         uint64_t& capacity) {
  auto file = os::File::open(directory_ + "/" + extent_name(id), os::File::Mode::kCreateNew);
  if (!file) return error_of(file.error());
  const auto allocate = [&]() -> os::Result<void> {
    // Some room is left to the records.
    if (!room_.has(capacity + Room::kLow)) {
      if (capacity == kLeastExtentBytes) room_.refused();
      return Failure{os::Error{ENOSPC, "there is no room for " + (*file)->path()}};
    }
    return (*file)->allocate(0, capacity);
  };
  capacity = extent_bytes_;
  auto allocated = allocate();
  while (!allocated && os::is_out_of_space(allocated.error().code) &&
         capacity > kLeastExtentBytes) {
    capacity = std::max(capacity / 4 / kPageBytes * kPageBytes, kLeastExtentBytes);
    allocated = allocate();
  }
  if (!allocated) return error_of(allocated.error());
  if (auto written = (*file)->write_at(extent_header(id, location_), 0); !written) {
    return error_of(written.error());
  }
  if (auto synced = os::sync_directory(directory_); !synced) return error_of(synced.error());
  return std::move(*file);
}

void ExtentWriter::finish(const Reserved& reserved, bool written) {
  {
    MutexLock lock(reserved.extent->mutex);
    reserved.extent->writing.erase(reserved.offset);
    // The failed run is nobody's; the next ones should try another extent.
    if (!written) reserved.extent->sealed = true;
  }
  retire_if_done(reserved.extent);
}

ExtentWriter::ExtentPtr ExtentWriter::find(ExtentId id) const {
  MutexLock lock(mutex_);
  auto found = extents_.find(id);
  return found == extents_.end() ? nullptr : found->second;
}

bool ExtentWriter::needs_sync(const store::Commit& commit) const {
  ExtentPtr extent;
  ExtentId looked_up = 0;
  bool needed = false;
  for_each_ref(commit, [&](const store::Ref& ref) {
    if (needed) return;
    if (ref.extent != looked_up) {
      looked_up = ref.extent;
      extent = find(ref.extent);
    }
    if (extent == nullptr) return;
    MutexLock lock(extent->mutex);
    needed = ref.offset >= extent->durable_end;
  });
  return needed;
}

std::vector<store::Result<void>> ExtentWriter::sync(
    const std::vector<const store::Commit*>& commits) {
  std::map<ExtentId, store::Result<void>> outcomes;
  std::vector<store::Result<void>> results;
  for (const auto* commit : commits) {
    auto& result = results.emplace_back();
    for_each_ref(*commit, [&](const store::Ref& ref) {
      auto known = outcomes.find(ref.extent);
      if (known != outcomes.end() && known->second.ok()) return;
      auto extent = find(ref.extent);
      if (extent == nullptr) return;
      {
        MutexLock lock(extent->mutex);
        if (ref.offset < extent->durable_end) return;
      }
      if (known == outcomes.end()) {
        known = outcomes.emplace(ref.extent, sync(*extent)).first;
        retire_if_done(extent);
      }
      if (!known->second.ok()) result = known->second;
    });
  }
  return results;
}

store::Result<void> ExtentWriter::sync(Extent& extent) {
  uint64_t written_end = 0;
  {
    MutexLock lock(extent.mutex);
    if (extent.lost) return *extent.lost;
    written_end = extent.writing.empty() ? extent.end : *extent.writing.begin();
  }
  auto synced = extent.file->sync_data();
  MutexLock lock(extent.mutex);
  if (synced.ok()) {
    extent.durable_end = std::max(extent.durable_end, written_end);
    return {};
  }
  // The kernel may have dropped the pages and call the next sync a success, so this is final.
  extent.lost = error_of(synced.error());
  extent.sealed = true;
  return *extent.lost;
}

void ExtentWriter::retire_if_done(const ExtentPtr& extent) {
  {
    MutexLock lock(extent->mutex);
    if (!extent->sealed || !extent->writing.empty() || extent->durable_end < extent->end) return;
  }
  forget(extent->id);
}

bool ExtentWriter::is_sealed(ExtentId id) const {
  if (id >= next_) return false;
  for (const auto& track : tracks_) {
    MutexLock lock(track.mutex);
    if (track.extent != nullptr && track.extent->id == id) return false;
  }
  auto extent = find(id);
  if (extent == nullptr) return true;
  MutexLock lock(extent->mutex);
  return extent->writing.empty();
}

void ExtentWriter::forget(ExtentId id) {
  MutexLock lock(mutex_);
  extents_.erase(id);
}

}  // namespace kyanite::engine
