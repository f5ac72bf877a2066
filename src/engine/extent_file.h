// One extent: its file, and which of its runs were found intact lately.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "os/file.h"
#include "store/store.h"

namespace kyanite::engine {

using ExtentId = uint64_t;
// What tells a location from all others: random bytes.
using LocationId = std::string;
inline constexpr size_t kLocationIdBytes = 16;
using SteadyTime = std::chrono::steady_clock::time_point;

std::string extent_name(ExtentId id);  // 16 hex digits and ".ext"
std::optional<ExtentId> extent_id(std::string_view name);

// The first page of every extent: magic, format, id, location, checksums. Runs begin after it.
std::string extent_header(ExtentId id, const LocationId& location);
inline constexpr size_t kExtentHeaderBytes = 40;
// Nothing when the header is damaged or of a time when extents did not know their location.
std::optional<LocationId> location_of(std::string_view header);

class ExtentFile {
 public:
  ExtentFile(ExtentId id, std::shared_ptr<const os::File> file) : id_(id), file_(std::move(file)) {}

  ExtentId id() const { return id_; }
  const std::shared_ptr<const os::File>& file() const { return file_; }

  // Whether the run was verified within the last seconds and nobody has written to the file since
  // (its times are looked at every few milliseconds). Then its bytes may be sent without reading
  // them first.
  bool trusted(const store::Ref& ref, SteadyTime now);

  // To be asked for before reading a run, and given back when its checksum was right.
  os::Result<os::FileStatus> stamp();
  void trust(const store::Ref& ref, const os::FileStatus& stamp, SteadyTime now);

 private:
  void forget_old(SteadyTime now) REQUIRES(mutex_);
  void look_at_times(SteadyTime now) REQUIRES(mutex_);
  void set_stamp(const os::FileStatus& stamp) REQUIRES(mutex_);

  const ExtentId id_;
  const std::shared_ptr<const os::File> file_;

  Mutex mutex_;
  // Bit n: the run that begins at page n. Two generations: bits go to the newer and die with the
  // older.
  std::vector<bool> newer_ GUARDED_BY(mutex_);
  std::vector<bool> older_ GUARDED_BY(mutex_);
  SteadyTime turned_ GUARDED_BY(mutex_){};
  SteadyTime looked_ GUARDED_BY(mutex_){};
  os::FileStatus stamp_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::engine
