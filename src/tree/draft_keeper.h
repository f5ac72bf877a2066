// The thread that stores what was written through handles once it is old, and all of it in the end.
#pragma once

#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "tree/drafts.h"

namespace kyanite::tree {

class DraftKeeper {
 public:
  // Nothing waits for much longer than `ticks`. Both must outlive this.
  DraftKeeper(Drafts& drafts, const Clock& clock, int64_t ticks);
  // Stores everything that is left, as far as that is possible.
  ~DraftKeeper();
  DraftKeeper(const DraftKeeper&) = delete;
  DraftKeeper& operator=(const DraftKeeper&) = delete;

 private:
  void loop();

  Drafts& drafts_;
  const Clock& clock_;
  const int64_t ticks_;
  Mutex mutex_;
  ConditionVariable wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace kyanite::tree
