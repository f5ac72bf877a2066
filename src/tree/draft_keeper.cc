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

DraftKeeper::DraftKeeper(Drafts& drafts, const Clock& clock, int64_t ticks)
    : drafts_(drafts), clock_(clock), ticks_(ticks), thread_([this] { loop(); }) {
  pthread_setname_np(thread_.native_handle(), "drafts");
}

DraftKeeper::~DraftKeeper() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (auto done = RunLoop::run(drafts_.settle_all()); !done)
    log_error("smb: what was written to files could not be stored at the end");
}

void DraftKeeper::loop() {
  const Ticks sleep = std::clamp(Ticks(ticks_ / 4), kLeastSleep, kMostSleep);
  MutexLock lock(mutex_);
  while (!wake_.wait_for(lock, sleep, [this]() REQUIRES(mutex_) { return stopping_; })) {
    if (!drafts_.any()) continue;
    lock.unlock();
    RunLoop::run(drafts_.settle_older(clock_.moment(), ticks_));
    lock.lock();
  }
}

}  // namespace kyanite::tree
