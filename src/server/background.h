// Work that nobody waits for, at intervals, on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/task.h"

namespace kyanite::server {

class Background {
 public:
  // Runs `job` every `interval`, the first time after one. A job is not begun once the destructor
  // has been entered, and is waited for, so it should do a bounded amount of work.
  Background(std::chrono::milliseconds interval, std::function<Task<void>()> job);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
  void loop(std::chrono::milliseconds interval);

  std::function<Task<void>()> job_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace kyanite::server
