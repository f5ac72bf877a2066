// Mutexes whose use the compiler checks: members say GUARDED_BY(mutex_), functions that are called
// with it held say REQUIRES(mutex_). They cost what those of the standard library cost, which say
// nothing to the compiler.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/annotations.h"

namespace kyanite {

class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds the mutex until destroyed, but for the time between unlock() and lock().
class SCOPED_CAPABILITY [[nodiscard]] MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() RELEASE() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() RELEASE() { lock_.unlock(); }
  void lock() ACQUIRE() { lock_.lock(); }

 private:
  friend class ConditionVariable;
  std::unique_lock<std::mutex> lock_;
};

// The predicates run with the mutex held, and say so: [this]() REQUIRES(mutex_) { ... }.
class ConditionVariable {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  template <class Predicate>
  void wait(MutexLock& lock, Predicate predicate) {
    condition_.wait(lock.lock_, std::move(predicate));
  }
  // What the predicate says in the end: false when it took too long.
  template <class Rep, class Period, class Predicate>
  bool wait_for(MutexLock& lock, std::chrono::duration<Rep, Period> longest, Predicate predicate) {
    return condition_.wait_for(lock.lock_, longest, std::move(predicate));
  }

 private:
  std::condition_variable condition_;
};

}  // namespace kyanite
