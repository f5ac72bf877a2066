#include "tree/draft_keeper.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "base/executor.h"
#include "base/log.h"

namespace kyanite::tree {

namespace {

using Ticks = std::chrono::duration<int64_t, std::ratio<1, kTicksPerSecond>>;
// How often it looks whether something is old: a quarter of what is old, within these.
constexpr Ticks kLeastSleep{kTicksPerSecond / 20};
constexpr Ticks kMostSleep{kTicksPerSecond / 2};

}  // namespace

DraftKeeper::DraftKeeper(OpenFiles& table, const Clock& clock, int64_t ticks)
    : table_(table), drafts_(table.drafts()), clock_(clock), ticks_(ticks) {
  threads_.emplace_back([this] { watch(); });
  while (threads_.size() <= kStorers) threads_.emplace_back([this] { store(); });
  for (auto& thread : threads_) pthread_setname_np(thread.native_handle(), "drafts");
}

DraftKeeper::~DraftKeeper() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
  if (auto done = RunLoop::run(drafts_.settle_all()); !done)
    log_error("smb: what was written to files could not be stored at the end");
}

void DraftKeeper::watch() {
  const Ticks sleep = std::clamp(Ticks(ticks_ / 4), kLeastSleep, kMostSleep);
  MutexLock lock(mutex_);
  while (!wake_.wait_for(lock, sleep, [this]() REQUIRES(mutex_) { return stopping_; })) {
    lock.unlock();
    table_.pass_time();
    const auto old = drafts_.old(clock_.moment(), ticks_);
    lock.lock();
    turns_.renew(old);
    ++round_;
    if (!old.empty()) wake_.notify_all();
  }
}

void DraftKeeper::store() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    const uint64_t round = round_;
    bool stored = false;
    if (const auto taken = turns_.take()) {
      lock.unlock();
      stored = RunLoop::run(drafts_.settle_old(taken->file, clock_.moment()));
      lock.lock();
      turns_.done(*taken);
    }
    if (stored) continue;
    // There is nothing to do, or it cannot be done now.
    wake_.wait(lock, [&]() REQUIRES(mutex_) { return stopping_ || round_ != round; });
  }
}

}  // namespace kyanite::tree
