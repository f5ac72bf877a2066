#include "server/background.h"

#include <utility>

#include "base/executor.h"

namespace kyanite::server {

Background::Background(std::chrono::milliseconds interval, std::function<Task<void>()> job)
    : job_(std::move(job)), thread_([this, interval] { loop(interval); }) {}

Background::~Background() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Background::loop(std::chrono::milliseconds interval) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, interval, [this] { return stopping_; })) {
    lock.unlock();
    RunLoop::run(job_());
    lock.lock();
  }
}

}  // namespace kyanite::server
