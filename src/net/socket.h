// A non-blocking socket registered with a loop. It remembers whether reading and writing may
// succeed, so that callers try first and wait only after the kernel said "not now".
#pragma once

#include <unistd.h>

#include <coroutine>
#include <cstdint>
#include <utility>

#include "net/loop.h"

namespace kyanite::net {

// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

enum class Direction { kRead, kWrite };

// Used on its loop's thread only. At most one coroutine waits for each direction. Must not die
// while one waits.
class Socket {
 public:
  Socket(Loop& loop, Descriptor descriptor);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int descriptor() const { return descriptor_.number(); }
  Loop& loop() const { return loop_; }

  // False: a system call in this direction would only say EAGAIN.
  bool may_try(Direction direction) const { return side(direction).ready; }
  // After EAGAIN.
  void would_block(Direction direction) { side(direction).ready = false; }
  // After a read that returned less than asked for. What arrives later is an event of its own; only
  // the peer's end, if it was reported with the bytes just read, is not reported again.
  void drained() { read_.ready = peer_ended_; }

  // co_await socket.wait(direction, deadline_ms) -> Wake. Returns at once when a try may succeed or
  // after interrupt().
  auto wait(Direction direction, int64_t deadline_ms) {
    struct Awaiter {
      Socket& socket;
      Side& side;
      int64_t deadline_ms;
      bool await_ready() noexcept {
        side.waiter.wake = socket.interrupted_ ? Wake::kInterrupted : Wake::kReady;
        return side.ready || socket.interrupted_;
      }
      void await_suspend(std::coroutine_handle<> coroutine) {
        side.waiter.coroutine = coroutine;
        side.since_ms = socket.loop_.now_ms();
        socket.loop_.timers_.arm(side.waiter, deadline_ms);
      }
      Wake await_resume() const noexcept { return side.waiter.wake; }
    };
    return Awaiter{*this, side(direction), deadline_ms};
  }

  // How long a coroutine has been waiting; -1: none is.
  int64_t waited_ms() const;

  // Ends the waits of now and later with Wake::kInterrupted.
  void interrupt();

 private:
  friend class Loop;
  struct Side {
    Waiter waiter;
    int64_t since_ms = 0;  // Since when it waits, if it does.
    bool ready = true;
  };

  void became_ready(uint32_t events);
  Side& side(Direction direction) { return direction == Direction::kRead ? read_ : write_; }
  const Side& side(Direction direction) const {
    return direction == Direction::kRead ? read_ : write_;
  }

  Loop& loop_;
  Descriptor descriptor_;
  bool peer_ended_ = false;  // The peer closed its side, or the connection failed.
  bool interrupted_ = false;
  Side read_;
  Side write_;
};

}  // namespace kyanite::net
