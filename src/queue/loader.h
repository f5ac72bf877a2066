// Fills an index from the store.
#pragma once

#include "base/task.h"
#include "queue/index.h"
#include "store/locks.h"
#include "store/store.h"

namespace kyanite::queue {

// What all operations on the messages of one queue work with.
struct Messages {
  store::Store& store;
  store::KeyedLocks& locks;
  store::SpaceId space;
  std::shared_ptr<Index> index;
  Deadline deadline = {};  // of who asks for them
};

// Makes more of the lane known than was. Those who need it at once wait for one scan.
Task<store::Result<void>> load_more(const Messages& messages, Index::Unknown unknown, Time now);

// How many messages the queue has that have not expired; never too few, and exact when nobody
// changes it.
Task<store::Result<uint64_t>> count_messages(const Messages& messages, Time now);

}  // namespace kyanite::queue
