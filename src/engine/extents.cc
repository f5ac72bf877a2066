#include "engine/extents.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "os/directory.h"
#include "store/checksum.h"

namespace kyanite::engine {

namespace {

using store::Error;

// Smaller parts are cheaper to copy than to send from the file.
constexpr uint32_t kLeastSliceBytes = 64 * 1024;
// Larger runs are verified by workers, to keep event loops responsive.
constexpr uint32_t kMostVerifiedInline = 64 * 1024;

// Keeps the extent, so that it counts as open.
os::Bytes slice_of(const std::shared_ptr<ExtentFile>& extent, const store::Ref& ref,
                   uint32_t offset, uint32_t length) {
  std::shared_ptr<const os::File> file(extent, extent->file().get());
  return os::FileSlice{std::move(file), ref.offset + offset, length};
}

// Keeps only the asked part of a buffer that holds the whole run.
Buffer part_of(Buffer run, uint32_t offset, uint32_t length) {
  if (offset != 0) std::memmove(run.data(), run.data() + offset, length);
  run.resize(length);
  return run;
}

}  // namespace

std::unique_ptr<Extents> Extents::open(ExtentOptions options) {
  return std::unique_ptr<Extents>(new Extents(std::move(options)));
}

Extents::Extents(ExtentOptions options)
    : options_(std::move(options)),
      files_(options_.directory, options_.most_open),
      writer_(options_, files_) {}

Task<store::Result<os::Bytes>> Extents::read(Workers& workers, store::Ref ref, uint32_t offset,
                                             uint32_t length, bool prefer_file) {
  CHECK(length <= ref.length && offset <= ref.length - length && ref.length <= store::kMaxRunBytes);
  counters_.reads.fetch_add(1, std::memory_order_relaxed);
  const Part part{ref, offset, length, prefer_file};
  if (auto extent = files_.find(ref.extent)) {
    if (auto bytes = read_in_memory(extent, part)) co_return std::move(*bytes);
  }
  auto read = co_await workers.try_run([&] { return read_from_disk(part); });
  if (!read) co_return Error::kBusy;
  co_return std::move(*read);
}

bool Extents::as_file(const Part& part) const {
  return part.prefer_file && part.length >= kLeastSliceBytes && !files_.crowded();
}

std::optional<os::Bytes> Extents::read_in_memory(const std::shared_ptr<ExtentFile>& extent,
                                                 const Part& part) {
  const auto& [ref, offset, length, prefer_file] = part;
  const bool trusted = extent->trusted(ref, std::chrono::steady_clock::now());
  if (trusted && as_file(part)) {
    counters_.trusted_reads.fetch_add(1, std::memory_order_relaxed);
    return slice_of(extent, ref, offset, length);
  }
  if (trusted) {
    Buffer bytes(length);
    bytes.resize(length);
    auto count = extent->file()->read_cached_at(bytes.data(), length, ref.offset + offset);
    if (!count || *count != length) return std::nullopt;
    counters_.trusted_reads.fetch_add(1, std::memory_order_relaxed);
    return os::Bytes(std::move(bytes));
  }
  if (ref.length > kMostVerifiedInline) return std::nullopt;
  const auto stamp = extent->stamp();
  if (!stamp) return std::nullopt;
  Buffer run(ref.length);
  run.resize(ref.length);
  auto count = extent->file()->read_cached_at(run.data(), ref.length, ref.offset);
  // Whatever is wrong is found again, and reported, by the worker.
  if (!count || *count != ref.length || store::crc32c(run.view()) != ref.crc32c) {
    return std::nullopt;
  }
  extent->trust(ref, *stamp, std::chrono::steady_clock::now());
  return os::Bytes(part_of(std::move(run), offset, length));
}

store::Result<os::Bytes> Extents::read_from_disk(const Part& part) {
  const auto& [ref, offset, length, prefer_file] = part;
  auto extent = files_.open(ref.extent);
  if (!extent) {
    if (extent.error().code == ENOENT) return report(part, "the file is missing");
    log_error(extent.error().what);
    return Error::kIo;
  }
  const auto stamp = (*extent)->stamp();
  Buffer run(ref.length);
  run.resize(ref.length);
  auto count = (*extent)->file()->read_at(run.data(), ref.length, ref.offset);
  if (!count) {
    log_error(count.error().what);
    return Error::kIo;
  }
  if (*count != ref.length) return report(part, "the file is too short");
  if (store::crc32c(run.view()) != ref.crc32c) return report(part, "the checksum does not match");
  if (stamp.ok()) (*extent)->trust(ref, *stamp, std::chrono::steady_clock::now());
  if (as_file(part)) return slice_of(*extent, ref, offset, length);
  return os::Bytes(part_of(std::move(run), offset, length));
}

store::Error Extents::report(const Part& part, const std::string& what) {
  counters_.corrupt_reads.fetch_add(1, std::memory_order_relaxed);
  log_error("corrupt run in " + options_.directory + "/" + extent_name(part.ref.extent) +
            " at offset " + std::to_string(part.ref.offset) + ", length " +
            std::to_string(part.ref.length) + ": " + what);
  return Error::kCorrupt;
}

os::Result<std::vector<ExtentId>> extent_ids(const std::string& directory) {
  auto names = os::list_directory(directory);
  if (!names) return Failure{names.error()};
  std::vector<ExtentId> ids;
  for (const auto& name : *names) {
    if (auto id = extent_id(name)) ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

os::Result<std::shared_ptr<const os::File>> Extents::open_file(ExtentId id) const {
  return os::File::open(options_.directory + "/" + extent_name(id), os::File::Mode::kReadWrite);
}

bool Extents::is_foreign(const os::File& extent) const {
  std::string header(kExtentHeaderBytes, '\0');
  auto count = extent.read_at(header.data(), header.size(), 0);
  if (!count || *count != header.size()) return false;
  const auto location = location_of(header);
  return location && *location != options_.location;
}

os::Result<void> Extents::remove(ExtentId id) {
  files_.forget(id);
  writer_.forget(id);
  return os::remove_file(options_.directory + "/" + extent_name(id));
}

}  // namespace kyanite::engine
