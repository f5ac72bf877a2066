// Coarse timers for many connections. Moving a deadline later, which each request does, is one
// store: a timer is looked at when its slot comes up and put back if it is not due yet. No I/O; the
// time is passed in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kyanite::net {

class TimerWheel;

// One deadline; lives inside its owner, who removes it from the wheel before it dies.
class Timer {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  int64_t deadline_ms() const { return deadline_ms_; }

 private:
  friend class TimerWheel;
  int64_t deadline_ms_ = kNever;
  int64_t tick_ = 0;  // When the wheel looks at it next; meaningful while linked.
  Timer* next_ = nullptr;
  Timer** link_ = nullptr;  // What points at this timer; null while in no slot.
};

class TimerWheel {
 public:
  static constexpr int64_t kTickMs = 50;
  static constexpr int64_t kSlots = 1024;

  explicit TimerWheel(int64_t now_ms) : tick_(now_ms / kTickMs) {}

  void arm(Timer& timer, int64_t deadline_ms);  // Timer::kNever disarms.
  // The timer does not fire any more; it may stay linked, so it still must be removed before it
  // dies.
  void disarm(Timer& timer) { timer.deadline_ms_ = Timer::kNever; }
  void remove(Timer& timer);

  // How long nothing can be due, in milliseconds; -1: for ever.
  int64_t quiet_ms(int64_t now_ms) const;

  // Calls fire(timer) for each timer due, disarmed and unlinked; fire may arm timers but not remove
  // others.
  template <class Fire>
  void advance(int64_t now_ms, Fire fire) {
    for (const int64_t now = now_ms / kTickMs; tick_ < now;) {
      ++tick_;
      // Nothing is further than one turn ahead: after a long sleep one turn sees everything.
      if (now - tick_ >= kSlots) tick_ = now - kSlots + 1;
      Timer* due = take_slot(tick_);
      while (due != nullptr) {
        Timer* timer = due;
        due = timer->next_;
        timer->link_ = nullptr;
        if (timer->deadline_ms_ == Timer::kNever) continue;
        if (tick_of(timer->deadline_ms_) > now) {
          insert(*timer);
          continue;
        }
        timer->deadline_ms_ = Timer::kNever;
        fire(*timer);
      }
    }
  }

 private:
  static int64_t tick_of(int64_t deadline_ms) { return (deadline_ms + kTickMs - 1) / kTickMs; }
  static size_t slot_of(int64_t tick) { return static_cast<size_t>(tick % kSlots); }
  void insert(Timer& timer);
  Timer* take_slot(int64_t tick);

  int64_t tick_;  // The last tick looked at.
  std::array<Timer*, kSlots> slots_{};
  std::array<uint64_t, kSlots / 64> occupied_{};  // A bit for each slot that may hold a timer.
};

}  // namespace kyanite::net
