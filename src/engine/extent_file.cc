#include "engine/extent_file.h"

#include "base/bytes.h"
#include "store/checksum.h"

namespace kyanite::engine {

namespace {

constexpr std::string_view kSuffix = ".ext";
constexpr std::string_view kMagic = "KYANEXT1";
// A bit lives between one and two of these.
constexpr std::chrono::seconds kGeneration{5};
constexpr std::chrono::milliseconds kLookEvery{5};

size_t page_of(const store::Ref& ref) { return static_cast<size_t>(ref.offset / kPageBytes); }

bool has(const std::vector<bool>& bits, size_t at) { return at < bits.size() && bits[at]; }

}  // namespace

std::string extent_name(ExtentId id) {
  std::string bytes;
  append_be64(bytes, id);
  return hex(bytes).append(kSuffix);
}

std::optional<ExtentId> extent_id(std::string_view name) {
  if (name.size() != 16 + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  const auto bytes = unhex(name.substr(0, 16));
  if (!bytes) return std::nullopt;
  return read_be64(bytes->data());
}

std::string extent_header(ExtentId id, const LocationId& location) {
  std::string header(kMagic);
  append_be64(header, id);
  append_le32(header, store::crc32c(header));
  header += location;
  append_le32(header, store::crc32c(header));
  header.resize(kPageBytes);
  return header;
}

std::optional<LocationId> location_of(std::string_view header) {
  constexpr size_t kCovered = kExtentHeaderBytes - sizeof(uint32_t);
  if (header.size() < kExtentHeaderBytes || !header.starts_with(kMagic)) return std::nullopt;
  if (store::crc32c(header.substr(0, kCovered)) != read_le32(header.data() + kCovered))
    return std::nullopt;
  return LocationId(header.substr(kCovered - kLocationIdBytes, kLocationIdBytes));
}

bool ExtentFile::trusted(const store::Ref& ref, SteadyTime now) {
  MutexLock lock(mutex_);
  forget_old(now);
  const size_t page = page_of(ref);
  if (!has(newer_, page) && !has(older_, page)) return false;
  look_at_times(now);
  return has(newer_, page) || has(older_, page);
}

os::Result<os::FileStatus> ExtentFile::stamp() {
  auto found = file_->status();
  if (found.ok()) {
    MutexLock lock(mutex_);
    set_stamp(*found);
  }
  return found;
}

void ExtentFile::trust(const store::Ref& ref, const os::FileStatus& stamp, SteadyTime now) {
  MutexLock lock(mutex_);
  forget_old(now);
  if (!(stamp == stamp_)) return;  // Written to since.
  const size_t page = page_of(ref);
  if (newer_.size() <= page) newer_.resize(page + 1);
  newer_[page] = true;
}

void ExtentFile::forget_old(SteadyTime now) {
  if (now - turned_ < kGeneration) return;
  if (now - turned_ < 2 * kGeneration) {
    older_.swap(newer_);
  } else {
    older_.clear();
  }
  newer_.clear();
  turned_ = now;
}

void ExtentFile::look_at_times(SteadyTime now) {
  if (now - looked_ < kLookEvery) return;
  looked_ = now;
  auto found = file_->status();
  set_stamp(found.ok() ? *found : os::FileStatus{});
}

void ExtentFile::set_stamp(const os::FileStatus& stamp) {
  if (stamp == stamp_) return;
  stamp_ = stamp;
  newer_.clear();
  older_.clear();
}

}  // namespace kyanite::engine
