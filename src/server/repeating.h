// Something that is done again and again, on a thread of its own, until this object goes.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace kyanite::server {

class Repeating {
 public:
  Repeating(std::chrono::milliseconds interval, std::function<void()> task)
      : thread_([this, interval, task = std::move(task)] {
          while (!stopped_within(interval)) task();
        }) {}
  ~Repeating() {
    {
      MutexLock lock(mutex_);
      stopped_ = true;
    }
    change_.notify_all();
    thread_.join();
  }
  Repeating(const Repeating&) = delete;
  Repeating& operator=(const Repeating&) = delete;

 private:
  bool stopped_within(std::chrono::milliseconds interval) {
    MutexLock lock(mutex_);
    return change_.wait_for(lock, interval, [this]() REQUIRES(mutex_) { return stopped_; });
  }

  Mutex mutex_;
  ConditionVariable change_;
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace kyanite::server
