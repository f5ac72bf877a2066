#include "net/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/check.h"
#include "net/socket.h"

namespace kyanite::net {

namespace {
constexpr int kEventsPerTurn = 256;

int64_t steady_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}
}  // namespace

Loop::Loop() : now_ms_(steady_ms()), timers_(now_ms_) {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  CHECK(epoll_ >= 0 && wake_event_ >= 0);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;  // Edge-triggered, the counter need never be read back.
  CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_event_, &event) == 0);
}

Loop::~Loop() {
  close(wake_event_);
  close(epoll_);
}

void Loop::watch(int descriptor, Socket* socket) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = socket;
  CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0);
}

void Loop::post(std::coroutine_handle<> coroutine) { post_all({&coroutine, 1}); }

void Loop::post_all(std::span<const std::coroutine_handle<>> coroutines) {
  if (current() == this) {
    ready_.insert(ready_.end(), coroutines.begin(), coroutines.end());
    return;
  }
  // Under the lock to the end: what is posted may be the last that the loop waits for, and the loop
  // gone before the next instruction.
  MutexLock lock(mutex_);
  posted_.insert(posted_.end(), coroutines.begin(), coroutines.end());
  if (std::exchange(asleep_, false)) eventfd_write(wake_event_, 1);
}

void Loop::stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  eventfd_write(wake_event_, 1);
}

void Loop::wake(Waiter& waiter, Wake why) {
  waiter.wake = why;
  timers_.disarm(waiter);
  ready_.push_back(std::exchange(waiter.coroutine, {}));
}

bool Loop::take_posted() {
  MutexLock lock(mutex_);
  ready_.insert(ready_.end(), posted_.begin(), posted_.end());
  posted_.clear();
  asleep_ = ready_.empty() && !stopping_;
  return !stopping_ || !ready_.empty();
}

void Loop::poll(bool may_sleep) {
  epoll_event events[kEventsPerTurn];
  const int64_t quiet = may_sleep ? timers_.quiet_ms(now_ms_) : 0;
  const int count = epoll_wait(epoll_, events, kEventsPerTurn, static_cast<int>(quiet));
  CHECK(count >= 0 || errno == EINTR);
  now_ms_ = steady_ms();
  for (int i = 0; i < count; ++i) {
    if (events[i].data.ptr == nullptr) continue;  // wake_event_: something was posted.
    static_cast<Socket*>(events[i].data.ptr)->became_ready(events[i].events);
  }
  timers_.advance(now_ms_, [this](Timer& timer) {
    auto& waiter = static_cast<Waiter&>(timer);
    if (waiter.coroutine) wake(waiter, Wake::kTimedOut);
  });
}

// One round only: what becomes ready meanwhile waits until sockets were polled again, so nobody
// starves.
void Loop::run_ready() {
  running_.swap(ready_);
  for (next_running_ = 0; next_running_ < running_.size();) running_[next_running_++].resume();
  running_.clear();
}

bool Loop::is_awaited() {
  if (next_running_ < running_.size() || !ready_.empty()) return true;
  {
    MutexLock lock(mutex_);
    if (!posted_.empty() || stopping_) return true;
  }
  poll(false);
  return !ready_.empty();
}

void Loop::run() {
  Executor* before = current();
  set_current(this);
  while (take_posted()) {
    poll(ready_.empty());
    run_ready();
  }
  set_current(before);
}

}  // namespace kyanite::net
