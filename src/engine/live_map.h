// Which pages of some extents are in use: what the sweep found in records, and what was committed
// while it looked.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/mutex.h"
#include "engine/committer.h"
#include "engine/extent_file.h"

namespace kyanite::engine {

class LiveMap final : public CommitWatch {
 public:
  // Begins with every page of the extent dead but its header.
  void add(ExtentId id, uint64_t file_bytes);

  // Refs to extents that were not added are none of its business. Any thread.
  void mark(const store::Ref& ref);
  void committing(const store::Commit& commit) override;

  struct Pages {
    uint64_t first = 0;
    uint64_t count = 0;
  };
  // Longest stretches of dead pages, ascending.
  std::vector<Pages> dead(ExtentId id) const;
  // Counts the header as alive.
  uint64_t live_pages(ExtentId id) const;

 private:
  void mark_locked(const store::Ref& ref) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<ExtentId, std::vector<bool>> pages_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::engine
