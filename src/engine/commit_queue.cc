#include "engine/commit_queue.h"

#include <algorithm>

#include "base/check.h"

namespace kyanite::engine {

void CommitQueue::push(CommitRequest* request) {
  {
    MutexLock lock(mutex_);
    CHECK(!closed_);
    waiting_.push_back(request);
    if (waiting_.size() > 1) return;  // The taker was woken for the first one.
  }
  wake_.notify_one();
}

bool CommitQueue::take(std::vector<CommitRequest*>& out, size_t most, Patience patience) {
  out.clear();
  MutexLock lock(mutex_);
  const auto ready = [this]() REQUIRES(mutex_) { return closed_ || !waiting_.empty(); };
  if (!patience) {
    wake_.wait(lock, ready);
  } else if (!wake_.wait_for(lock, *patience, ready)) {
    return true;
  }
  if (waiting_.size() <= most) {
    out.swap(waiting_);
    return !out.empty();
  }
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(most);
  out.assign(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  return true;
}

void CommitQueue::close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  wake_.notify_all();
}

size_t CommitQueue::depth() const {
  MutexLock lock(mutex_);
  return waiting_.size();
}

}  // namespace kyanite::engine
