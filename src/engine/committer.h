// The one thread that changes records. It takes all commits that wait, checks their guards in order
// against what is committed plus what the batch holds so far, writes the batch with one sync, and
// tells everyone.
#pragma once

#include <atomic>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "engine/cache.h"
#include "engine/commit_queue.h"
#include "engine/records.h"
#include "engine/room.h"

namespace kyanite::engine {

// Told of every commit from watch() on, before it becomes visible, and of those in doubt: their
// write has failed, but they may be there when the database is opened again. Called on the
// committer's thread or within watch().
class CommitWatch {
 public:
  virtual ~CommitWatch() = default;
  virtual void committing(const store::Commit& commit) = 0;
};

class Committer {
 public:
  Committer(Records& records, RecordCache& cache, Room& room);
  ~Committer();  // Finishes what was submitted.

  void submit(CommitRequest* request) { queue_.push(request); }

  // When it returns, all commits not shown to `watch` are visible to reads, or will never be. Null:
  // no one watches any more.
  void watch(CommitWatch* watch);

  struct Counters {
    std::atomic<uint64_t> commits{0};
    std::atomic<uint64_t> conflicts{0};
    std::atomic<uint64_t> failures{0};
    std::atomic<uint64_t> batches{0};
    std::atomic<uint64_t> sync_nanos{0};
  };
  const Counters& counters() const { return counters_; }
  size_t depth() const { return queue_.depth(); }

 private:
  using Batch = std::vector<CommitRequest*>;
  void loop();
  void process(const Batch& batch);
  store::Result<void> repair() REQUIRES(batch_mutex_);
  void stage(const Batch& batch, rocksdb::WriteBatch& writes) REQUIRES(batch_mutex_);
  // Why the commit cannot be part of the batch; nothing when all its guards hold and there is room.
  std::optional<store::Error> obstacle(const store::Commit& commit) REQUIRES(batch_mutex_);
  store::Result<store::RecordPtr> current(const std::string& key) REQUIRES(batch_mutex_);
  store::Result<void> write(rocksdb::WriteBatch& writes) REQUIRES(batch_mutex_);
  void doubt(const Batch& batch) REQUIRES(batch_mutex_);
  void finish(const Batch& batch, const store::Result<void>& result);

  Records& records_;
  RecordCache& cache_;
  Room& room_;
  CommitQueue queue_;
  Mutex batch_mutex_;  // Held while a batch is staged and written.
  // What the batch being staged will have written. Keys point into its requests.
  std::unordered_map<std::string_view, store::RecordPtr> staged_ GUARDED_BY(batch_mutex_);
  std::vector<Wakeup> wakeups_;
  CommitWatch* watch_ GUARDED_BY(batch_mutex_) = nullptr;
  std::vector<store::Commit> in_doubt_ GUARDED_BY(batch_mutex_);
  Counters counters_;
  std::thread thread_;  // Last: it uses the others.
};

}  // namespace kyanite::engine
