#include "base/executor.h"

#include <sys/resource.h>
#include <unistd.h>

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

void stand_back() {
  constexpr int kNice = 15;
  // A thread has a priority of its own here, POSIX or not. Without it things are only less fair.
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice));
}

Workers::Workers(int threads, size_t most_waiting, Priority priority)
    : most_waiting_(most_waiting) {
  CHECK(threads > 0);
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this, priority] { loop(priority); });
}

Workers::~Workers() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

bool Workers::submit(std::function<void()> job, Turn turn) {
  {
    MutexLock lock(mutex_);
    if (turn == Turn::kFirst && first_.size() + again_.size() >= most_waiting_) return false;
    (turn == Turn::kFirst ? first_ : again_).push_back(std::move(job));
  }
  wake_.notify_one();
  return true;
}

size_t Workers::waiting() const {
  MutexLock lock(mutex_);
  return first_.size() + again_.size();
}

std::function<void()> Workers::take() {
  const bool from_first = again_.empty() || (!first_.empty() && first_is_next_);
  // Only turns that others had to wait for count.
  if (!first_.empty() && !again_.empty()) first_is_next_ = !first_is_next_;
  Jobs& jobs = from_first ? first_ : again_;
  auto job = std::move(jobs.front());
  jobs.pop_front();
  return job;
}

void Workers::loop(Priority priority) {
  if (priority == Priority::kStandsBack) stand_back();
  MutexLock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this]() REQUIRES(mutex_) {
      return stopping_ || !first_.empty() || !again_.empty();
    });
    if (first_.empty() && again_.empty()) return;
    auto job = take();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

void RunLoop::post(std::coroutine_handle<> coroutine) {
  MutexLock lock(mutex_);
  ready_.push_back(coroutine);
  wake_.notify_one();
}

void RunLoop::post_all(std::span<const std::coroutine_handle<>> coroutines) {
  MutexLock lock(mutex_);
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
  MutexLock lock(mutex_);
  while (!finished_) {
    wake_.wait(lock, [this]() REQUIRES(mutex_) { return !ready_.empty(); });
    auto next = ready_.front();
    ready_.pop_front();
    lock.unlock();
    next.resume();
    lock.lock();
  }
}

}  // namespace kyanite
