// Appends runs to extents and makes them durable. Extents of an earlier process are never appended
// to: what a crash left behind their last committed run is not worth finding out.
//
// Small runs and bulk runs go to different extents, so that the sync of a small object does not
// wait for somebody's upload. Bulk runs are written past the page cache: the device works while the
// next ones arrive, and a sync finds little left to do (docs/decisions/direct-writes.md).
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "engine/open_extents.h"
#include "engine/room.h"
#include "store/store.h"

namespace kyanite::engine {

struct ExtentOptions {
  std::string directory;
  LocationId location;
  uint64_t extent_bytes = 0;
  size_t most_open = 0;  // Files kept open for reading; at most twice as many are.
  ExtentId next = 1;     // Greater than the id of every extent that ever was.
  Room* room = nullptr;
};

class ExtentWriter {
 public:
  ExtentWriter(const ExtentOptions& options, OpenExtents& readers);
  // Gives back what was reserved and not used.
  ~ExtentWriter();

  // Called with the id of an extent before it is made, and the highest id of those that were; when
  // it fails none is made. To be set before the first append.
  using Announce = std::function<store::Result<void>(ExtentId id, ExtentId made)>;
  void set_announce(Announce announce) { announce_ = std::move(announce); }

  // Writes the run; blocks. Its bytes are padded in place.
  store::Result<store::Ref> append(Buffer& bytes);
  // The same for several, as one write if there is room for them in one place.
  store::Result<std::vector<store::Ref>> append_all(std::span<Buffer> runs);

  // Whether some ref of the commit is in an extent that has to be synced first.
  bool needs_sync(const store::Commit& commit) const;
  // Makes all refs of these commits durable. Blocks. Tells for each commit whether it may go on.
  std::vector<store::Result<void>> sync(const std::vector<const store::Commit*>& commits);

  // What is reserved and not used is given back; the next append makes new extents.
  void seal_all();
  // Whether no more runs will ever be added to the extent.
  bool is_sealed(ExtentId id) const;
  void forget(ExtentId id);

  uint64_t appended_runs() const { return appended_runs_.load(std::memory_order_relaxed); }
  uint64_t appended_bytes() const { return appended_bytes_.load(std::memory_order_relaxed); }

 private:
  // An extent this process writes, or wrote and has not wholly synced.
  struct Extent {
    ExtentId id = 0;
    std::shared_ptr<const os::File> file;
    std::shared_ptr<const os::File> direct;  // Of bulk runs; null where there are no direct writes.
    uint64_t capacity = 0;

    Mutex mutex;
    uint64_t end GUARDED_BY(mutex) = kPageBytes;   // Where the next run goes.
    std::set<uint64_t> writing GUARDED_BY(mutex);  // Offsets of runs being written.
    bool sealed GUARDED_BY(mutex) = false;
    uint64_t durable_end GUARDED_BY(mutex) = 0;  // All runs before this are on the device.
    std::optional<store::Error> lost
        GUARDED_BY(mutex);  // A sync failed: runs from durable_end on cannot be trusted.
  };
  using ExtentPtr = std::shared_ptr<Extent>;
  struct Track {
    mutable Mutex mutex;
    ExtentPtr extent GUARDED_BY(mutex);  // Null until the first append.
  };
  struct Reserved {
    ExtentPtr extent;
    uint64_t offset = 0;
  };

  store::Result<Reserved> reserve(uint64_t length);
  store::Result<std::vector<store::Ref>> append_together(std::span<Buffer> runs);
  void seal(const ExtentPtr& extent);
  static std::optional<uint64_t> reserve_in(Extent& extent, uint64_t length);
  store::Result<ExtentPtr> create(bool bulk);
  static os::Result<void> write(const Extent& extent, std::span<const Buffer> runs,
                                uint64_t offset);
  store::Result<std::shared_ptr<const os::File>> create_file(ExtentId id, uint64_t& capacity);
  void finish(const Reserved& reserved, bool written);
  ExtentPtr find(ExtentId id) const;
  store::Result<void> sync(Extent& extent);
  void retire_if_done(const ExtentPtr& extent);

  const std::string directory_;
  const LocationId location_;
  Room& room_;
  OpenExtents& readers_;
  const uint64_t extent_bytes_;
  std::atomic<ExtentId> next_;
  Announce announce_;
  std::atomic<ExtentId> made_{0};  // The highest.
  std::array<Track, 2> tracks_;

  mutable Mutex mutex_;
  std::map<ExtentId, ExtentPtr> extents_
      GUARDED_BY(mutex_);  // Those whose runs are not all known to be durable.
  std::atomic<uint64_t> appended_runs_{0};
  std::atomic<uint64_t> appended_bytes_{0};
};

}  // namespace kyanite::engine
