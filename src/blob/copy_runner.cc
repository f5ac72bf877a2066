#include "blob/copy_runner.h"

#include "base/executor.h"
#include "base/log.h"
#include "base/random.h"

namespace kyanite::blob {

CopyRunner::CopyRunner() : id_(random_u64()) {}

CopyRunner::~CopyRunner() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void CopyRunner::submit(service::Context& context, std::string account, PendingCopy copy) {
  std::lock_guard lock(mutex_);
  if (stopping_ || !known_.insert(copy.id).second) return;
  waiting_.push_back({&context, std::move(account), std::move(copy)});
  if (idle_ >= waiting_.size() || threads_.size() == kAtOnce) {
    wake_.notify_one();
  } else {
    threads_.emplace_back([this] { work(); });
  }
}

void CopyRunner::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    --idle_;
    if (stopping_) return;
    const Job job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    RunLoop::run(run_pending_copy(*job.context, job.account, job.copy, stopping_));
    lock.lock();
    known_.erase(job.copy.id);
  }
}

Task<void> CopyRunner::resume(service::Context& context) {
  for (const auto& [account, keys] : context.accounts.all()) {
    auto copies = co_await list_pending_copies(context.store, account);
    if (!copies) {
      log_warning(std::string("blob: pending copies: ") + store::describe(copies.error()));
      continue;
    }
    for (auto& copy : *copies) {
      // A fresh note of this run may precede its blob by a moment.
      if (copy.runner != id_ ||
          after_seconds(copy.started, kRetryAfterSeconds) <= context.clock.now()) {
        submit(context, account, std::move(copy));
      }
    }
  }
}

}  // namespace kyanite::blob
