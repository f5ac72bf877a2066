// The indexes of the queues in use.
#pragma once

#include <memory>
#include <unordered_map>

#include "base/mutex.h"
#include "queue/index.h"
#include "store/key.h"

namespace kyanite::queue {

class Indexes {
 public:
  // Beyond this many, those not in use are dropped; they load again when needed.
  static constexpr size_t kMostKept = 512;

  // The one index of these messages, for as long as someone holds it.
  std::shared_ptr<Index> of(store::SpaceId space);
  // The same, if it is there.
  std::shared_ptr<Index> find(store::SpaceId space);
  // The messages are gone.
  void drop(store::SpaceId space);
  size_t size();

 private:
  struct Kept {
    std::shared_ptr<Index> index;
    bool used = true;  // since the last time room was made
  };
  void make_room() REQUIRES(mutex_);

  Mutex mutex_;
  std::unordered_map<store::SpaceId, Kept> kept_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::queue
