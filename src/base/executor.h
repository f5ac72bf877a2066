// Where coroutines run. Each event loop is an Executor; whoever completes an operation on another
// thread posts the waiting coroutine back to the executor it came from, so code between two
// co_awaits never changes threads by surprise.
#pragma once

#include <atomic>
#include <coroutine>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/task.h"

namespace kyanite {

class Executor {
 public:
  virtual ~Executor() = default;
  // Resumes the coroutine on this executor's thread, later. Callable from any thread.
  virtual void post(std::coroutine_handle<> coroutine) = 0;
  // As post for each, in order, but waking the thread once.
  virtual void post_all(std::span<const std::coroutine_handle<>> coroutines) {
    for (auto coroutine : coroutines) post(coroutine);
  }

  // Whether somebody waits for this executor's thread, which is the calling one. Costs a look at
  // the system: for long work, now and then. True where nobody knows.
  virtual bool is_awaited() { return true; }

  // The executor whose thread this is; null on threads that run none.
  static Executor* current();

  // co_await Executor::yield(): goes on here after everything else that is ready; at once on
  // threads that run none.
  static auto yield() {
    struct Awaiter {
      bool await_ready() const noexcept { return current() == nullptr; }
      void await_suspend(std::coroutine_handle<> coroutine) { current()->post(coroutine); }
      void await_resume() const noexcept {}
    };
    return Awaiter{};
  }

 protected:
  static void set_current(Executor* executor);
};

// A coroutine that is to be resumed, and where; a null executor means right here.
struct Wakeup {
  std::coroutine_handle<> coroutine;
  Executor* executor = nullptr;
};
// Resumes them all, with one wake-up per executor. Reorders the list; those of one executor keep
// their order.
void wake(std::vector<Wakeup>& wakeups);

// A value that arrives once, possibly from another thread, for one awaiting coroutine. The awaiter
// owns it; it must outlive the call to set(). Without a current executor the awaiter resumes on the
// setting thread.
template <class T>
class Pending {
 public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  void set(T value) {
    const auto wakeup = set_quietly(std::move(value));
    if (!wakeup) return;
    if (wakeup->executor != nullptr) {
      wakeup->executor->post(wakeup->coroutine);
    } else {
      wakeup->coroutine.resume();
    }
  }
  // As set, but leaves it to the caller to resume whoever waits already.
  std::optional<Wakeup> set_quietly(T value) {
    value_.emplace(std::move(value));
    void* seen = state_.exchange(kReady, std::memory_order_acq_rel);
    // Nobody waits yet; await_ready or await_suspend will see kReady.
    if (seen == nullptr) return std::nullopt;
    return Wakeup{std::coroutine_handle<>::from_address(seen), executor_};
  }

  bool await_ready() const noexcept { return state_.load(std::memory_order_acquire) == kReady; }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept {
    executor_ = Executor::current();
    void* expected = nullptr;
    return state_.compare_exchange_strong(expected, waiter.address(), std::memory_order_acq_rel);
  }
  T await_resume() { return std::move(*value_); }

 private:
  static inline void* const kReady = reinterpret_cast<void*>(1);
  std::atomic<void*> state_{nullptr};
  Executor* executor_ = nullptr;
  std::optional<T> value_;
};

// From here on this thread only gets what processor time others leave. For work that nobody waits
// for impatiently, or that would take all it can get.
void stand_back();

// Threads for work of one kind that may block or burn: cold reads, file writes, scans, checksums of
// large bodies. Each kind has threads and a queue of its own, so that none waits for another.
class Workers {
 public:
  static constexpr size_t kMostWaiting = 4096;
  enum class Priority { kUsual, kStandsBack };
  // Work in turns submits its next turn as kAgain: jobs that have not had one yet come before those
  // that have, every other time, so that short work does not wait behind all that is long.
  enum class Turn { kFirst, kAgain };

  explicit Workers(int threads, size_t most_waiting = kMostWaiting,
                   Priority priority = Priority::kUsual);
  ~Workers();  // Finishes what was submitted.
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False, and the job is dropped, when as many wait as may. A further turn is never refused: there
  // are no more of them than first turns that were not.
  [[nodiscard]] bool submit(std::function<void()> job, Turn turn = Turn::kFirst);

  // co_await workers.try_run(f): f() runs on a worker, its result arrives on the calling executor;
  // nothing when too many wait.
  template <class F>
  auto try_run(F function, Turn turn = Turn::kFirst) -> Task<std::optional<decltype(function())>> {
    Pending<decltype(function())> done;
    if (!submit([&] { done.set(function()); }, turn)) co_return std::nullopt;
    co_return co_await done;
  }

  // The same for work that only burns: when too many wait, whoever asks does it at once.
  template <class F>
  auto run(F function, Turn turn = Turn::kFirst) -> Task<decltype(function())> {
    Pending<decltype(function())> done;
    if (!submit([&] { done.set(function()); }, turn)) co_return function();
    co_return co_await done;
  }

  // Jobs that no thread has begun.
  size_t waiting() const;

 private:
  using Jobs = std::deque<std::function<void()>>;
  void loop(Priority priority);
  std::function<void()> take() REQUIRES(mutex_);  // A job is waiting.

  const size_t most_waiting_;
  mutable Mutex mutex_;
  ConditionVariable wake_;
  Jobs first_ GUARDED_BY(mutex_);
  Jobs again_ GUARDED_BY(mutex_);
  bool first_is_next_ GUARDED_BY(mutex_) = true;  // of the two, when both have jobs
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// An executor for threads without an event loop (tests, tools, main): runs until the task is done.
class RunLoop : public Executor {
 public:
  void post(std::coroutine_handle<> coroutine) override;
  void post_all(std::span<const std::coroutine_handle<>> coroutines) override;

  template <class T>
  static T run(Task<T> task) {
    RunLoop loop;
    Executor* before = current();
    set_current(&loop);
    std::optional<T> value;
    auto driver = [](RunLoop& self, Task<T> inner, std::optional<T>& out) -> Detached {
      out.emplace(co_await std::move(inner));
      self.finish();
    };
    driver(loop, std::move(task), value);
    loop.drain();
    set_current(before);
    return std::move(*value);
  }
  static void run(Task<void> task);

 private:
  void finish();
  void drain();

  Mutex mutex_;
  ConditionVariable wake_;
  std::deque<std::coroutine_handle<>> ready_ GUARDED_BY(mutex_);
  bool finished_ = false;  // Only the running thread has it.
};

}  // namespace kyanite
