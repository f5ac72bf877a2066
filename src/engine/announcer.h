// Has the database know the number of every extent before the extent is made, so that extents newer
// than the records are recognised (engine/identity.h).
#pragma once

#include "base/mutex.h"
#include "engine/committer.h"
#include "engine/identity.h"

namespace kyanite::engine {

class Announcer {
 public:
  Announcer(Committer& committer, Standing standing)
      : committer_(committer), standing_(std::move(standing)) {}

  // Durable on return; waits for the device. `made` is the highest number of those that exist.
  store::Result<void> announce(ExtentId id, ExtentId made);

 private:
  Committer& committer_;
  Mutex mutex_;  // Held while committing: a later number must not be followed by an earlier.
  Standing standing_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::engine
