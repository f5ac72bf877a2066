// How many bytes the files of each share have, by their lengths, so that a quota can be kept
// without looking at every file. Kept in memory and counted anew after a start, in the background:
// docs/decisions/share-quota.md.
//
// Every member may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/task.h"
#include "jobs/job.h"
#include "store/store.h"

namespace kyanite::tree {

// How far the counting of a share has come.
struct Counting {
  std::string next;  // What lies before this key is counted, and changes of it are noted.
  int64_t bytes = 0;
};

class Usage {
 public:
  Usage() = default;
  Usage(const Usage&) = delete;
  Usage& operator=(const Usage&) = delete;

  // Nothing as long as it was not counted.
  std::optional<uint64_t> bytes(store::SpaceId share) const;

  // The share is new and has no files.
  void begin(store::SpaceId share);
  // It is deleted.
  void forget(store::SpaceId share);

  // What the share may have, in bytes, as it was set at that instant: an older one changes nothing.
  // Whoever reads the share's record tells it, so that who has the share mounted need not ask.
  void set_quota(store::SpaceId share, uint64_t quota, Time as_of);

  // A commit made the file under this key longer, or shorter.
  void note(store::SpaceId share, std::string_view key, int64_t more);
  // Something that is not stored yet will make a file longer; or will not any more.
  void promise(store::SpaceId share, int64_t more);

  // Whether so many bytes more are within the quota. Until the share is counted, whatever would fit
  // into an empty one is.
  bool has_room(store::SpaceId share, uint64_t more) const;

  // A visit of a job (lifetime::VisitSpace): counts a share that is not counted yet, in portions.
  Task<store::Result<bool>> count(jobs::Step& step, std::string name, store::SpaceId share,
                                  std::string& key);

 private:
  struct Share {
    std::optional<int64_t> known;
    std::optional<Counting> counting;
    int64_t promised = 0;
    uint64_t quota = UINT64_MAX;
    Time quota_as_of;
  };

  mutable Mutex mutex_;
  std::unordered_map<store::SpaceId, Share> shares_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::tree
