// Mutexes for coroutines, one per key, first come first served. Writers of one blob queue up here
// instead of conflicting in the store; correctness never rests on it, because commits are guarded.
#pragma once

#include <array>
#include <coroutine>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/executor.h"
#include "base/mutex.h"

namespace kyanite::store {

class KeyedLocks {
  struct Waiter {
    std::coroutine_handle<> coroutine;
    Executor* executor = nullptr;
    Waiter* next = nullptr;
  };
  struct Queue {
    Waiter* first = nullptr;
    Waiter* last = nullptr;
  };
  // Holds exactly the keys that are locked now. Elements of an unordered_map stay where they are.
  using Held = std::unordered_map<std::string, Queue>;
  struct Shard {
    Mutex mutex;
    Held held GUARDED_BY(mutex);
  };

 public:
  // Has the lock until destroyed. Must not outlive the KeyedLocks. May be released on any thread.
  class [[nodiscard]] Turn {
   public:
    Turn() = default;
    Turn(Turn&& other) noexcept
        : shard_(std::exchange(other.shard_, nullptr)), held_(other.held_) {}
    Turn& operator=(Turn&& other) noexcept;
    ~Turn() { release(); }
    void release();
    bool owns() const { return shard_ != nullptr; }

   private:
    friend class KeyedLocks;
    Turn(Shard* shard, Held::value_type* held) : shard_(shard), held_(held) {}

    Shard* shard_ = nullptr;
    Held::value_type* held_ = nullptr;
  };

  // What lock() returns, to be awaited at once. A coroutine that waits is resumed by its executor,
  // never from within release(); on a thread without an executor it has to be, and then runs on the
  // releasing thread.
  class [[nodiscard]] Locking {
   public:
    bool await_ready();
    bool await_suspend(std::coroutine_handle<> coroutine);
    Turn await_resume() { return Turn(&shard_, held_); }

   private:
    friend class KeyedLocks;
    Locking(Shard& shard, std::string key) : shard_(shard), key_(std::move(key)) {}
    bool try_lock() REQUIRES(shard_.mutex);

    Shard& shard_;
    std::string key_;
    Held::value_type* held_ = nullptr;
    Waiter waiter_;
  };

  KeyedLocks() = default;
  KeyedLocks(const KeyedLocks&) = delete;
  KeyedLocks& operator=(const KeyedLocks&) = delete;

  // auto turn = co_await locks.lock(key);
  Locking lock(std::string key) {
    Shard& shard = shards_[std::hash<std::string>{}(key) % kShards];
    return Locking(shard, std::move(key));
  }

 private:
  static constexpr size_t kShards = 64;
  std::array<Shard, kShards> shards_;
};

}  // namespace kyanite::store
