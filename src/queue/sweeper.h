// Removes expired messages, queue after queue, a little at a time. Readers do not see them anyway;
// this only gives their space back.
#pragma once

#include <string>
#include <vector>

#include "auth/account.h"
#include "base/clock.h"
#include "base/task.h"
#include "queue/indexes.h"
#include "store/store.h"

namespace kyanite::queue {

class Sweeper {
 public:
  explicit Sweeper(Indexes& indexes) : indexes_(indexes) {}

  // How much one call does at most. Looking costs less than removing, which waits for the disk.
  static constexpr uint64_t kMostLookedAt = 2'000;
  static constexpr uint64_t kMostRemoved = 5'000;

  struct Swept {
    uint64_t looked_at = 0;
    uint64_t removed = 0;
    bool around = false;  // The last queue was reached; the next call begins anew.
  };
  // Goes on where the last call stopped. One call at a time.
  Task<store::Result<Swept>> sweep(store::Store& store, const auth::Accounts& accounts, Time now);

 private:
  struct Step;
  Task<store::Result<bool>> next_queue(store::Store& store, const auth::Accounts& accounts);
  Task<store::Result<void>> sweep_some(store::Store& store, Time now, Swept& swept);
  Task<store::Result<void>> remove_all(store::Store& store,
                                       const std::vector<store::Entry>& entries);

  Indexes& indexes_;
  // Where it stopped: within this queue of this account at this key; no space: before the next one.
  std::string account_;
  std::string queue_;
  store::SpaceId space_ = 0;
  store::Range rest_;
};

}  // namespace kyanite::queue
