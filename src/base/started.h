// A task that runs while its starter goes on, to be joined later: how receiving overlaps with
// hashing and writing.
#pragma once

#include <memory>
#include <utility>

#include "base/executor.h"
#include "base/task.h"

namespace kyanite {

template <class T>
class Started {
 public:
  // Runs the task up to its first suspension.
  explicit Started(Task<T> task) : result_(std::make_shared<Pending<T>>()) {
    run(std::move(task), result_);
  }

  // Whether join() would not wait.
  bool is_done() const { return result_->await_ready(); }

  // Once. Whatever the task refers to must live until it was joined.
  Task<T> join() {
    Pending<T>& result = *result_;
    co_return co_await result;
  }

 private:
  static Detached run(Task<T> task, std::shared_ptr<Pending<T>> result) {
    result->set(co_await std::move(task));
  }

  std::shared_ptr<Pending<T>> result_;
};

}  // namespace kyanite
