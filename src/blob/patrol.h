// The background round over all blobs: removes soft-deleted heads whose retention is over, expired
// blobs, uncommitted blocks that nobody committed in time, marks of blocks that are gone, and
// changes of tags that were announced and given up. One step looks at a bounded number of records;
// a finished round rests for a while.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/task.h"
#include "service/call.h"

namespace kyanite::blob {

class Patrol {
 public:
  static constexpr uint64_t kRecordsPerStep = 2000;
  static constexpr int64_t kRestSeconds = 600;

  // Does one step. A failed step is told in the log and done again by the next round.
  Task<void> step(service::Context& context);

  uint64_t removed() const { return removed_; }

 private:
  Task<store::Result<void>> look(service::Context& context);
  Task<store::Result<void>> begin_account(store::Store& store, std::string next);

  Moment rests_until_;
  // Where the next step begins.
  std::string account_;
  std::string container_;
  std::string key_;
  bool mends_ = false;  // Whether the account's tags are compared with their index (tag_mend.h).
  uint64_t removed_ = 0;
};

}  // namespace kyanite::blob
