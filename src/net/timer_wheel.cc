#include "net/timer_wheel.h"

#include <algorithm>
#include <bit>

namespace kyanite::net {

void TimerWheel::arm(Timer& timer, int64_t deadline_ms) {
  timer.deadline_ms_ = deadline_ms;
  if (deadline_ms == Timer::kNever) return;
  if (timer.link_ != nullptr) {
    if (timer.tick_ <= tick_of(deadline_ms)) return;
    remove(timer);
  }
  insert(timer);
}

void TimerWheel::insert(Timer& timer) {
  timer.tick_ = std::clamp(tick_of(timer.deadline_ms_), tick_ + 1, tick_ + kSlots - 1);
  const size_t slot = slot_of(timer.tick_);
  Timer*& first = slots_[slot];
  timer.next_ = first;
  timer.link_ = &first;
  if (first != nullptr) first->link_ = &timer.next_;
  first = &timer;
  occupied_[slot / 64] |= uint64_t{1} << (slot % 64);
}

void TimerWheel::remove(Timer& timer) {
  if (timer.link_ == nullptr) return;
  *timer.link_ = timer.next_;
  if (timer.next_ != nullptr) timer.next_->link_ = timer.link_;
  timer.link_ = nullptr;
}

Timer* TimerWheel::take_slot(int64_t tick) {
  const size_t slot = slot_of(tick);
  occupied_[slot / 64] &= ~(uint64_t{1} << (slot % 64));
  Timer* first = slots_[slot];
  slots_[slot] = nullptr;
  return first;
}

int64_t TimerWheel::quiet_ms(int64_t now_ms) const {
  for (int64_t tick = tick_ + 1; tick < tick_ + kSlots;) {
    const size_t slot = slot_of(tick);
    const uint64_t bits = occupied_[slot / 64] >> (slot % 64);
    if (bits == 0) {
      tick += static_cast<int64_t>(64 - slot % 64);
      continue;
    }
    tick += std::countr_zero(bits);
    return std::max<int64_t>(0, tick * kTickMs - now_ms);
  }
  return -1;
}

}  // namespace kyanite::net
