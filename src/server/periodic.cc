#include "server/periodic.h"

#include <pthread.h>

namespace kyanite::server {

Periodic::Periodic(const char* name, std::chrono::milliseconds interval,
                   std::function<void()> action)
    : interval_(interval), action_(std::move(action)), thread_([this] { loop(); }) {
  pthread_setname_np(thread_.native_handle(), name);
}

Periodic::~Periodic() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Periodic::loop() {
  MutexLock lock(mutex_);
  while (!wake_.wait_for(lock, interval_, [this]() REQUIRES(mutex_) { return stopping_; })) {
    lock.unlock();
    action_();
    lock.lock();
  }
}

}  // namespace kyanite::server
