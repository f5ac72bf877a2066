// An event loop: one thread that runs coroutines whose sockets are ready, whose time has come, or
// that were posted to it. Edge-triggered epoll; a socket is registered once, so that a request
// costs no epoll_ctl.
#pragma once

#include <coroutine>
#include <cstdint>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "net/timer_wheel.h"

namespace kyanite::net {

class Socket;

// Why a waiting coroutine runs again.
enum class Wake {
  kReady,
  kTimedOut,
  kInterrupted,  // Somebody wants the wait to end: the server stops.
};

// A coroutine that waits on a loop, with its deadline.
struct Waiter : Timer {
  std::coroutine_handle<> coroutine;
  Wake wake = Wake::kReady;
};

class Loop final : public Executor {
 public:
  Loop();
  ~Loop() override;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Makes the calling thread the loop's thread until stop().
  void run();
  // From any thread: run() returns after what is ready now.
  void stop();
  void post(std::coroutine_handle<> coroutine) override;
  void post_all(std::span<const std::coroutine_handle<>> coroutines) override;
  // Looks whether sockets have become ready, or times have come, since the turn began.
  bool is_awaited() override;

  // Milliseconds of the steady clock, as of the last turn of the loop.
  int64_t now_ms() const { return now_ms_; }

  // co_await loop.turn(): continues on the loop's thread after everything else that is ready; from
  // another thread, moves there.
  auto turn() {
    struct Awaiter {
      Loop& loop;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> coroutine) { loop.post(coroutine); }
      void await_resume() const noexcept {}
    };
    return Awaiter{*this};
  }

  // Many coroutines run in this turn. Replies sent one after the other at its end find their
  // clients awake more often than replies sent between other work, and waking one costs as much as
  // a request.
  bool crowded() const { return running_.size() >= kCrowd; }

  // co_await loop.sleep_until(deadline_ms), on the loop's thread.
  auto sleep_until(int64_t deadline_ms) {
    struct Awaiter {
      Loop& loop;
      int64_t deadline_ms;
      Waiter waiter{};
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> coroutine) {
        waiter.coroutine = coroutine;
        loop.timers_.arm(waiter, deadline_ms);
      }
      void await_resume() const noexcept {}
    };
    return Awaiter{*this, deadline_ms};
  }

 private:
  friend class Socket;
  static constexpr size_t kCrowd = 4;

  // Runs a waiting coroutine in this turn, on the loop's thread.
  void wake(Waiter& waiter, Wake why);
  void watch(int descriptor, Socket* socket);
  bool take_posted();
  void poll(bool may_sleep);
  void run_ready();

  int epoll_ = -1;
  int wake_event_ = -1;
  int64_t now_ms_;
  TimerWheel timers_;
  std::vector<std::coroutine_handle<>> ready_;
  std::vector<std::coroutine_handle<>> running_;
  size_t next_running_ = 0;  // among them

  Mutex mutex_;
  std::vector<std::coroutine_handle<>> posted_ GUARDED_BY(mutex_);
  bool asleep_ GUARDED_BY(mutex_) =
      false;  // The loop waits, or is about to; the first to post writes to wake_event_.
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace kyanite::net
