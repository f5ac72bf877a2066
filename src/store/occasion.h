// What all decisions of one request share, by whichever protocol it came.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "store/locks.h"
#include "store/store.h"

namespace kyanite::store {

// For whom something is decided: what the log says of commits that fail. What the views are of
// lives as long as the request.
struct Cause {
  std::string_view operation;
  std::string_view request_id;
  std::string_view caller;
};

class Occasion {
 public:
  Occasion(Store& records, KeyedLocks& turns, const Clock& clock)
      : now(clock.now()), store_(records), locks_(turns), clock_(clock) {}

  Time now;           // One instant for all decisions of the request.
  Deadline deadline;  // What goes on for long, waits or tries again asks whether it is over.
  Cause cause;

  Store& store() const { return store_; }
  // Writers of one object wait in line here instead of conflicting at commit.
  KeyedLocks& locks() const { return locks_; }
  const Clock& clock() const { return clock_; }

  // A decision that is made again is made later. So what is named by the instant of a request
  // (snapshots, versions, deletions) and finds its name taken gets another.
  void move_on() {
    const Time later = clock_.now();
    now = later > now ? later : Time{now.ticks + 1};
  }

 private:
  Store& store_;
  KeyedLocks& locks_;
  const Clock& clock_;
};

}  // namespace kyanite::store
