// The threads in which the jobs of a schedule run.
#pragma once

#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "jobs/schedule.h"

namespace kyanite::jobs {

class Runner {
 public:
  static constexpr size_t kStepsAtOnce = 2;

  // Both must outlive this. The threads get the processor time that others leave.
  Runner(Schedule& schedule, const Clock& clock);
  // Stops the schedule and waits for steps under way, which end soon then.
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

 private:
  void loop();

  Schedule& schedule_;
  const Clock& clock_;
  Mutex mutex_;
  ConditionVariable wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace kyanite::jobs
