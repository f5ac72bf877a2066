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
#include <utility>

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
  // Whether so many bytes more are within the quota. Until the share is counted, whatever would fit
  // into an empty one is.
  bool has_room(store::SpaceId share, uint64_t more) const;

  // Something that is not stored yet will make a file longer: from now on nobody else has that
  // room. False, and nothing is promised, when there is not so much.
  [[nodiscard]] bool promise(store::SpaceId share, uint64_t more);
  // It is stored, or will not be any more.
  void take_back(store::SpaceId share, uint64_t promised);

  // What is promised to one change until it is over, stored or not.
  class Promise {
   public:
    Promise() = default;
    Promise(Usage& usage, store::SpaceId share, uint64_t more)
        : usage_(&usage), share_(share), bytes_(more), kept_(usage.promise(share, more)) {}
    Promise(Promise&& other) noexcept
        : usage_(other.usage_),
          share_(other.share_),
          bytes_(other.bytes_),
          kept_(std::exchange(other.kept_, false)) {}
    Promise& operator=(Promise other) noexcept {
      std::swap(usage_, other.usage_);
      std::swap(share_, other.share_);
      std::swap(bytes_, other.bytes_);
      std::swap(kept_, other.kept_);
      return *this;
    }
    ~Promise() {
      if (kept_) usage_->take_back(share_, bytes_);
    }
    bool kept() const { return kept_; }

   private:
    Usage* usage_ = nullptr;
    store::SpaceId share_ = 0;
    uint64_t bytes_ = 0;
    bool kept_ = false;
  };

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

  static bool fits(const Share& share, uint64_t more);

  mutable Mutex mutex_;
  std::unordered_map<store::SpaceId, Share> shares_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::tree
