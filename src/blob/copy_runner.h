// The threads on which pending copies are fetched.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/task.h"
#include "blob/copy_pending.h"
#include "service/call.h"

namespace kyanite::blob {

class CopyRunner {
 public:
  static constexpr size_t kAtOnce = 8;  // Further copies wait for their turn.
  // A copy of this run of the server that could not be fetched for the moment is tried again, at
  // the earliest this long after it was begun.
  static constexpr int64_t kRetryAfterSeconds = 30;

  CopyRunner();
  // Copies under way stay pending; they begin again with the next start of the server. Waits for
  // what they wait for, so the fetcher should have been stopped.
  ~CopyRunner();
  CopyRunner(const CopyRunner&) = delete;
  CopyRunner& operator=(const CopyRunner&) = delete;

  // Runs the copy, unless that is being done already. The context must outlive this.
  void submit(service::Context& context, std::string account, PendingCopy copy);

  uint64_t id() const { return id_; }

  // Takes up the copies that an earlier run of the server left pending, and those to be tried
  // again.
  Task<void> resume(service::Context& context);

 private:
  struct Job {
    service::Context* context;
    std::string account;
    PendingCopy copy;
  };

  void work();

  const uint64_t id_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // Guards what follows.
  std::condition_variable wake_;
  std::deque<Job> waiting_;
  std::set<std::string> known_;  // Ids of copies that wait or run.
  size_t idle_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace kyanite::blob
