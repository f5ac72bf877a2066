// Does something again and again in a thread of its own, which may block.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace kyanite::server {

class Periodic {
 public:
  // The first time one interval from now. `name` is the thread's, of 15 characters at most.
  Periodic(const char* name, std::chrono::milliseconds interval, std::function<void()> action);
  // Waits for the action if it is under way.
  ~Periodic();
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;

 private:
  void loop();

  const std::chrono::milliseconds interval_;
  const std::function<void()> action_;
  Mutex mutex_;
  ConditionVariable wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace kyanite::server
