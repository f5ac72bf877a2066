// Commits on their way to the disk, first in first out, between threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "store/store.h"

namespace kyanite::engine {

// Lives in the coroutine that awaits `done`; whoever sets `done` must not touch it afterwards.
struct CommitRequest {
  store::Commit commit;
  std::vector<std::string> heads;       // The encoded head of each write's record.
  std::optional<store::Error> refused;  // Why this one is not part of its batch.
  Pending<store::Result<void>> done;
};

class CommitQueue {
 public:
  void push(CommitRequest* request);
  // Waits for requests, no longer than `patience`, and takes up to `most` of them; none when its
  // patience was over. False once the queue is closed and drained.
  using Patience = std::optional<std::chrono::milliseconds>;
  bool take(std::vector<CommitRequest*>& out, size_t most, Patience patience = std::nullopt);
  void close();
  size_t depth() const;

 private:
  mutable Mutex mutex_;
  ConditionVariable wake_;
  std::vector<CommitRequest*> waiting_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace kyanite::engine
