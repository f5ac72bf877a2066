// Gives back the space of bytes that no record lists any more. For a group of sealed extents:
//
//   1. watch commits: from here on every ref that is committed counts as alive;
//   2. read the refs of all records from one snapshot, taken later;
//   3. wait until every Hold taken so far is gone; then what is kept for longer counts as alive.
//
// A page that neither 2 nor 1 saw is dead for good. After 3 only Holds are left that began after
// the snapshot. They can know a ref from a record of the snapshot or from a later commit, both of
// which were seen, or from an append, which never goes to a sealed extent. docs/decisions/sweep.md
// has the argument at length.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "engine/committer.h"
#include "engine/extents.h"
#include "engine/holds.h"
#include "engine/live_map.h"
#include "engine/records.h"

namespace kyanite::engine {

struct SweepReport {
  uint64_t extents = 0;  // Looked at.
  uint64_t live_bytes = 0;
  uint64_t dead_bytes = 0;  // Found allocated and not alive; what of it was reclaimed is next.
  uint64_t reclaimed_bytes = 0;
  uint64_t removed_extents = 0;
  double seconds = 0;
};

class Sweeper {
 public:
  // Sweeps by itself every `interval`, when something was committed since; never when it is zero.
  // Soon, when the disk is full.
  Sweeper(Records& records, Extents& extents, Committer& committer, Holds& holds, const Room& room,
          std::chrono::seconds interval);
  ~Sweeper();

  // Sweeps now, on the calling thread. Waits for Holds; an error leaves everything that may be
  // alive in place.
  store::Result<SweepReport> run();

  SweepReport last() const;
  // How many extents the sweep at hand has yet to finish; 0 when none is running.
  uint64_t extents_left() const { return extents_left_.load(std::memory_order_relaxed); }
  uint64_t sweeps() const { return sweeps_.load(std::memory_order_relaxed); }
  uint64_t reclaimed_bytes() const { return reclaimed_bytes_.load(std::memory_order_relaxed); }

 private:
  enum class Pace { kFull, kGentle };
  store::Result<SweepReport> run(Pace pace);
  ExtentId highest_there(const std::vector<ExtentId>& listed) const;
  store::Result<void> sweep_group(const std::vector<ExtentId>& group, Pace pace,
                                  SweepReport& report) REQUIRES(running_);
  store::Result<void> mark(LiveMap& live, Pace pace);
  void reclaim(ExtentId id, const LiveMap& live, SweepReport& report) REQUIRES(running_);
  // Returns how many bytes the device got back.
  uint64_t punch(const os::File& file, const std::vector<LiveMap::Pages>& dead);
  void rest(Pace pace, SteadyTime& since);
  bool stopping() const { return stopping_.load(); }
  void loop(std::chrono::seconds interval);

  Records& records_;
  Extents& extents_;
  Committer& committer_;
  Holds& holds_;
  const Room& room_;

  Mutex running_;                              // One sweep at a time.
  ExtentId highest_ GUARDED_BY(running_) = 0;  // Of the extents on the disk when it began.
  mutable Mutex mutex_;
  ConditionVariable wake_;
  std::atomic<bool> stopping_{false};
  SweepReport last_ GUARDED_BY(mutex_);
  std::atomic<uint64_t> extents_left_{0};
  std::atomic<uint64_t> sweeps_{0};
  std::atomic<uint64_t> reclaimed_bytes_{0};
  std::thread thread_;
};

}  // namespace kyanite::engine
