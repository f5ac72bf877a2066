// Tasks that take turns at random, for tests of what must hold however requests interleave: one
// thread, a store that lets others go on before each of its calls, and a seed that decides who
// does.
#pragma once

#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "store/memory.h"

namespace kyanite::store {

class Interleaving final : public Executor {
 public:
  explicit Interleaving(uint64_t seed) : random_(seed) {}

  void post(std::coroutine_handle<> coroutine) override {
    MutexLock lock(mutex_);
    ready_.push_back(coroutine);
    wake_.notify_one();
  }

  // Until all of them are done. `after_each_step` runs between any two steps.
  void run(std::vector<Task<void>> tasks, const std::function<void()>& after_each_step) {
    Executor* const before = current();
    set_current(this);
    size_t left = tasks.size();
    auto start = [](Task<void> task, size_t& count) -> Detached {
      co_await Executor::yield();
      co_await std::move(task);
      --count;
    };
    for (auto& task : tasks) start(std::move(task), left);
    while (left > 0) {
      take().resume();
      after_each_step();
    }
    set_current(before);
  }

 private:
  std::coroutine_handle<> take() {
    MutexLock lock(mutex_);
    wake_.wait(lock, [this]() REQUIRES(mutex_) { return !ready_.empty(); });
    std::swap(ready_[random_() % ready_.size()], ready_.back());
    const auto next = ready_.back();
    ready_.pop_back();
    return next;
  }

  std::mt19937_64 random_;
  Mutex mutex_;
  ConditionVariable wake_;
  std::vector<std::coroutine_handle<>> ready_ GUARDED_BY(mutex_);
};

class InterleavedStore final : public MemoryStore {
 public:
  Task<Result<RecordPtr>> get(const Key& key) override {
    co_await Executor::yield();
    co_return co_await MemoryStore::get(key);
  }
  Task<Result<void>> look(Look look) override {
    co_await Executor::yield();
    co_return co_await MemoryStore::look(std::move(look));
  }
  Task<Result<void>> commit(Commit commit) override {
    co_await Executor::yield();
    co_return co_await MemoryStore::commit(std::move(commit));
  }

  Task<Result<std::vector<Ref>>> append_all(std::vector<Buffer> runs) override {
    co_await Executor::yield();
    co_return co_await MemoryStore::append_all(std::move(runs));
  }

  // What is committed now, for looks between two steps.
  Result<void> look_now(const Look& look) { return RunLoop::run(MemoryStore::look(look)); }
};

}  // namespace kyanite::store
