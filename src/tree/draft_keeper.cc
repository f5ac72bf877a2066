#include "tree/draft_keeper.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>

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
  while (storers_.size() < kStorers) add_storer();
  watcher_ = std::thread([this] { watch(); });
  pthread_setname_np(watcher_.native_handle(), "drafts");
}

void DraftKeeper::add_storer() {
  storers_.emplace_back([this] { store(); });
  pthread_setname_np(storers_.back().native_handle(), "drafts");
}

DraftKeeper::~DraftKeeper() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  watcher_.join();
  for (auto& thread : storers_) thread.join();
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
    replace_long();
    ++round_;
    if (!old.empty()) wake_.notify_all();
  }
}

void DraftKeeper::replace_long() {
  const Moment now = clock_.moment();
  for (Storing& each : storing_) {
    if (each.is_long || long_ == kMaxLong || now.ticks < each.since.ticks + kLongTicks) continue;
    each.is_long = true;
    ++long_;
    turns_.done(each.draft);
  }
  try {
    while (storers_.size() < kStorers + long_) add_storer();
  } catch (const std::exception&) {
    // There may be a thread for it later.
  }
}

void DraftKeeper::store() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    const uint64_t round = round_;
    bool stored = false;
    std::optional<Drafts::Old> taken;
    if (storing_.size() - long_ < kStorers) taken = turns_.take();
    if (taken) {
      const auto place = storing_.insert(storing_.end(), {*taken, clock_.moment()});
      lock.unlock();
      stored = RunLoop::run(drafts_.settle_old(taken->file, clock_.moment()));
      lock.lock();
      if (place->is_long) {
        --long_;
      } else {
        turns_.done(*taken);
      }
      storing_.erase(place);
    }
    if (stored) continue;
    // There is nothing to do, or it cannot be done now.
    wake_.wait(lock, [&]() REQUIRES(mutex_) { return stopping_ || round_ != round; });
  }
}

}  // namespace kyanite::tree
