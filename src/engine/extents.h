// All extents of a location: appending, syncing, reading back with the checksum verified, removing.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "engine/extent_writer.h"
#include "engine/open_extents.h"

namespace kyanite::engine {

// Ids of all extents on the disk, ascending.
os::Result<std::vector<ExtentId>> extent_ids(const std::string& directory);

class Extents {
 public:
  static std::unique_ptr<Extents> open(ExtentOptions options);

  ExtentWriter& writer() { return writer_; }

  // As Store::read_run. Completes at once when the bytes are trusted or in the page cache.
  Task<store::Result<os::Bytes>> read(Workers& workers, store::Ref ref, uint32_t offset,
                                      uint32_t length, bool prefer_file);

  os::Result<std::vector<ExtentId>> list() const { return extent_ids(options_.directory); }
  // For looking at it once: does not displace files that are being read.
  os::Result<std::shared_ptr<const os::File>> open_file(ExtentId id) const;
  // Whether it says that it is an extent of another location.
  bool is_foreign(const os::File& extent) const;
  // Deletes the file. Nobody may need its runs any more, and it must not have the highest id on the
  // disk: that id would be given again after a restart.
  os::Result<void> remove(ExtentId id);

  struct Counters {
    std::atomic<uint64_t> reads{0};
    std::atomic<uint64_t> trusted_reads{0};
    std::atomic<uint64_t> corrupt_reads{0};
  };
  const Counters& counters() const { return counters_; }

 private:
  struct Part {
    store::Ref ref;
    uint32_t offset;
    uint32_t length;
    bool prefer_file;
  };
  explicit Extents(ExtentOptions options);
  // What can be had without waiting.
  std::optional<os::Bytes> read_in_memory(const std::shared_ptr<ExtentFile>& extent,
                                          const Part& part);
  store::Result<os::Bytes> read_from_disk(const Part& part);
  bool as_file(const Part& part) const;
  store::Error report(const Part& part, const std::string& what);

  const ExtentOptions options_;
  OpenExtents files_;
  ExtentWriter writer_;
  Counters counters_;
};

}  // namespace kyanite::engine
