#include "jobs/runner.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "base/executor.h"

namespace kyanite::jobs {

namespace {

using Ticks = std::chrono::duration<int64_t, std::ratio<1, kTicksPerSecond>>;
// What becomes due while all threads sleep waits no longer than this.
constexpr Ticks kMostSleep{kTicksPerSecond};

}  // namespace

Runner::Runner(Schedule& schedule, const Clock& clock) : schedule_(schedule), clock_(clock) {
  for (size_t i = 0; i < kStepsAtOnce; ++i) {
    threads_.emplace_back([this] { loop(); });
    pthread_setname_np(threads_.back().native_handle(), "jobs");
  }
}

Runner::~Runner() {
  schedule_.stop();
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Runner::loop() {
  stand_back();
  MutexLock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const bool ran = RunLoop::run(schedule_.run_one());
    const auto due = schedule_.next_due();
    lock.lock();
    if (ran) continue;
    Ticks sleep = kMostSleep;
    if (due) sleep = std::clamp(Ticks(due->ticks - clock_.moment().ticks), Ticks(0), kMostSleep);
    wake_.wait_for(lock, sleep, [this]() REQUIRES(mutex_) { return stopping_; });
  }
}

}  // namespace kyanite::jobs
