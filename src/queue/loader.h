// Fills an index from the store.
#pragma once

#include "base/task.h"
#include "queue/index.h"
#include "store/occasion.h"
#include "store/store.h"

namespace kyanite::queue {

// What all operations on the messages of one queue work with.
struct Messages {
  store::Occasion& occasion;  // on which they are asked for
  store::SpaceId space;
  std::shared_ptr<Index> index;

  store::Store& store() const { return occasion.store(); }
};

// Makes more of the lane known than was. Those who need it at once wait for one scan.
Task<store::Result<void>> load_more(const Messages& messages, Index::Unknown unknown, Time now);

// How many messages the queue has that have not expired; never too few, and exact when nobody
// changes it.
Task<store::Result<uint64_t>> count_messages(const Messages& messages, Time now);

}  // namespace kyanite::queue
