// The background round over the index of tags: removes entries that no blob makes true, and that no
// change under way can make true any more (docs/decisions/tag-index.md). One step looks at a
// bounded number of entries; a finished round rests for a while.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/task.h"
#include "service/call.h"

namespace kyanite::blob {

class TagSweep {
 public:
  static constexpr uint64_t kEntriesPerStep = 2000;
  static constexpr int64_t kRestSeconds = 600;

  // Does one step. A failed step is told in the log and done again by the next round.
  Task<void> step(service::Context& context);

  uint64_t removed() const { return removed_; }

 private:
  Task<store::Result<void>> look(service::Context& context);

  Moment rests_until_;
  // Where the next step begins.
  std::string account_;
  std::string key_;
  uint64_t removed_ = 0;
};

}  // namespace kyanite::blob
