// The stage before the committer for commits whose bytes are not yet durable: one thread syncs the
// extents of all commits that wait, together, and passes them on. Commits without such bytes never
// come here.
#pragma once

#include <thread>
#include <vector>

#include "engine/commit_queue.h"
#include "engine/committer.h"
#include "engine/extent_writer.h"

namespace kyanite::engine {

class Syncer {
 public:
  Syncer(ExtentWriter& extents, Committer& committer);
  ~Syncer();  // Finishes what was submitted.

  void submit(CommitRequest* request) { queue_.push(request); }
  size_t depth() const { return queue_.depth(); }
  uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

 private:
  void loop();

  ExtentWriter& extents_;
  Committer& committer_;
  CommitQueue queue_;
  std::atomic<uint64_t> failures_{0};
  std::thread thread_;  // Last: it uses the others.
};

}  // namespace kyanite::engine
