// Who wants to be told what changes in a directory, or anywhere below it. Fed by every change of a
// tree, by whichever protocol it comes; kept in memory until whoever watches asks.
//
// Thread-safe. While nobody watches, a change costs one look at a counter.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/executor.h"
#include "base/fair_counts.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/task.h"
#include "tree/file_key.h"
#include "tree/records.h"

namespace kyanite::tree {

// What of an entry has changed. The bits are those of SMB.
using ChangedParts = uint32_t;
inline constexpr ChangedParts kFileNameChanged = 0x1;
inline constexpr ChangedParts kDirectoryNameChanged = 0x2;
inline constexpr ChangedParts kAttributesChanged = 0x4;
inline constexpr ChangedParts kSizeChanged = 0x8;
inline constexpr ChangedParts kLastWriteChanged = 0x10;
inline constexpr ChangedParts kCreationChanged = 0x40;
inline constexpr ChangedParts kSecurityChanged = 0x100;

enum class ChangeKind : uint8_t { kAdded, kRemoved, kModified, kRenamedFrom, kRenamedTo };

// One entry of a tree has changed.
struct TreeChange {
  store::SpaceId share = 0;
  std::span<const uint64_t> ancestors;  // From the root to the directory it is in.
  std::string_view path;                // From the root, with / between the names.
  ChangeKind kind = ChangeKind::kModified;
  ChangedParts parts = 0;
};

// The same as one who watches sees it.
struct SeenChange {
  ChangeKind kind = ChangeKind::kModified;
  std::string path;  // From the watched directory.
  bool operator==(const SeenChange&) const = default;
};

class Watchers {
 public:
  using WatchId = uint64_t;
  // What is kept for one who does not ask. Beyond it all of it is dropped: whoever watches reads
  // the directory anew.
  static constexpr size_t kMaxKept = 1024;
  static constexpr size_t kMaxKeptBytes = 64 << 10;
  // What is kept of all watches, and what a change takes besides its path.
  static constexpr size_t kMaxKeptBytesOfAll = 32 << 20;
  static constexpr size_t kBytesOfAChange = 64;
  // All watches there are, of which one share has a half at most (base/fair_counts.h).
  static constexpr size_t kMaxWatches = 32 * 1024;
  // Of one watch that wait.
  static constexpr size_t kMaxWaiting = 16;

  // Why somebody who waits is told of no change.
  enum class Ending : uint8_t { kCancelled, kClosed, kDeletePending, kTooMany };
  struct Seen {
    std::vector<SeenChange> changes;  // In their order.
    bool too_many = false;            // The directory is to be read anew.
  };

  Watchers() = default;
  Watchers(const Watchers&) = delete;
  Watchers& operator=(const Watchers&) = delete;

  // Keeps changes of these parts in the directory from now on, and below it when `recursive`.
  // Nothing when there are too many.
  std::optional<WatchId> watch(FileKey directory, bool recursive, ChangedParts parts);
  // The same for what a snapshot shows, where nothing changes: who waits does so to the end.
  std::optional<WatchId> watch_shown(store::SpaceId share, Generation shown);
  // What was kept, if anything was.
  std::optional<Seen> kept(WatchId watch);
  // The same, or the next change once there is one. Several may wait: each gets a change.
  Task<kyanite::Result<Seen, Ending>> next(WatchId watch, uint64_t ticket);
  void cancel(WatchId watch, uint64_t ticket);
  // Who waits is told kClosed.
  void close(WatchId watch);
  // Everybody who waits for changes in the directory is told why there will be none.
  void end(FileKey directory, Ending why);

  // Whether a change has to be told to anybody.
  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }
  void tell(const TreeChange& change) {
    if (any()) tell_all({&change, 1});
  }
  // Everybody who waits, or is about to, for changes in the share or in what a snapshot of it shows
  // is told kClosed: it is deleted.
  void end_share(store::SpaceId share);
  void end_shown(store::SpaceId share, Generation shown);
  // Several in one step: they are seen together.
  void tell_all(std::span<const TreeChange> changes);

 private:
  using Turn = Pending<kyanite::Result<Seen, Ending>>;
  struct Waiting {
    uint64_t ticket;
    Turn* turn;
  };
  struct Watch {
    FileKey directory;
    bool recursive = false;
    ChangedParts parts = 0;
    std::optional<Generation> shown;  // By a snapshot: then no change is told to it.
    bool over = false;                // What was watched is deleted.
    Seen kept;
    size_t kept_bytes = 0;
    std::vector<Waiting> waiting;
  };
  struct Told {
    Turn* turn;
    kyanite::Result<Seen, Ending> seen;
  };

  std::optional<WatchId> add(Watch added);
  template <class Meant>
  void end_where(const Meant& meant);
  void keep(Watch& watch, ChangeKind kind, std::string_view path) REQUIRES(mutex_);
  Seen take(Watch& watch) REQUIRES(mutex_);
  static void tell(std::vector<Told>& told) {
    for (Told& each : told) each.turn->set(std::move(each.seen));
  }

  std::atomic<size_t> count_ = 0;
  Mutex mutex_;
  WatchId next_ GUARDED_BY(mutex_) = 1;
  std::map<WatchId, Watch> watches_ GUARDED_BY(mutex_);
  FairCounts<store::SpaceId> counts_{kMaxWatches};
  size_t kept_bytes_ GUARDED_BY(mutex_) = 0;  // of all
  std::unordered_map<FileKey, std::vector<WatchId>, FileKeyHash> directories_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::tree
