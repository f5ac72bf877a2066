#include "base/executor.h"

#include <algorithm>

namespace kyanite {

namespace {
thread_local Executor* current_executor = nullptr;
}

Executor* Executor::current() { return current_executor; }
void Executor::set_current(Executor* executor) { current_executor = executor; }

void wake(std::vector<Wakeup>& wakeups) {
  std::stable_sort(wakeups.begin(), wakeups.end(), [](const Wakeup& a, const Wakeup& b) {
    return std::less<>{}(a.executor, b.executor);
  });
  std::vector<std::coroutine_handle<>> together;
  for (size_t i = 0; i < wakeups.size(); ++i) {
    Executor* executor = wakeups[i].executor;
    if (executor == nullptr) {
      wakeups[i].coroutine.resume();
      continue;
    }
    together.push_back(wakeups[i].coroutine);
    if (i + 1 < wakeups.size() && wakeups[i + 1].executor == executor) continue;
    executor->post_all(together);
    together.clear();
  }
}

Workers::Workers(int threads) {
  CHECK(threads > 0);
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { loop(); });
}

Workers::~Workers() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Workers::submit(std::function<void()> job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void Workers::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

void RunLoop::post(std::coroutine_handle<> coroutine) {
  std::lock_guard lock(mutex_);
  ready_.push_back(coroutine);
  wake_.notify_one();
}

void RunLoop::post_all(std::span<const std::coroutine_handle<>> coroutines) {
  std::lock_guard lock(mutex_);
  ready_.insert(ready_.end(), coroutines.begin(), coroutines.end());
  wake_.notify_one();
}

void RunLoop::run(Task<void> task) {
  auto wrapped = [](Task<void> inner) -> Task<bool> {
    co_await std::move(inner);
    co_return true;
  };
  run(wrapped(std::move(task)));
}

void RunLoop::finish() { finished_ = true; }

void RunLoop::drain() {
  std::unique_lock lock(mutex_);
  while (!finished_) {
    wake_.wait(lock, [this] { return !ready_.empty(); });
    auto next = ready_.front();
    ready_.pop_front();
    lock.unlock();
    next.resume();
    lock.lock();
  }
}

}  // namespace kyanite
