#include "store/locks.h"

namespace kyanite::store {

KeyedLocks::Turn& KeyedLocks::Turn::operator=(Turn&& other) noexcept {
  if (this != &other) {
    release();
    shard_ = std::exchange(other.shard_, nullptr);
    held_ = other.held_;
  }
  return *this;
}

void KeyedLocks::Turn::release() {
  Shard* shard = std::exchange(shard_, nullptr);
  if (shard == nullptr) return;
  Waiter next;
  {
    MutexLock lock(shard->mutex);
    Queue& queue = held_->second;
    if (queue.first == nullptr) {
      shard->held.erase(shard->held.find(held_->first));
      return;
    }
    // The lock passes to the next waiter without ever being free, so nobody overtakes.
    next = *queue.first;
    queue.first = next.next;
  }
  if (next.executor != nullptr) {
    next.executor->post(next.coroutine);
  } else {
    next.coroutine.resume();
  }
}

bool KeyedLocks::Locking::try_lock() {
  // try_emplace moves from the key only when it inserts.
  auto [found, inserted] = shard_.held.try_emplace(std::move(key_));
  held_ = &*found;
  return inserted;
}

bool KeyedLocks::Locking::await_ready() {
  MutexLock lock(shard_.mutex);
  return try_lock();
}

bool KeyedLocks::Locking::await_suspend(std::coroutine_handle<> coroutine) {
  MutexLock lock(shard_.mutex);
  if (try_lock()) return false;
  waiter_.coroutine = coroutine;
  waiter_.executor = Executor::current();
  Queue& queue = held_->second;
  (queue.first == nullptr ? queue.first : queue.last->next) = &waiter_;
  queue.last = &waiter_;
  return true;
}

}  // namespace kyanite::store
