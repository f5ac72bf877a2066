// Walks in portions: what a step looks at when its job looks at everything there is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/task.h"
#include "jobs/job.h"
#include "store/store.h"

namespace kyanite::jobs {

// Sees one record; says whether to go on behind it. kCorrupt counts it as unreadable and goes on.
using See = std::function<store::Result<bool>(const store::View&, const store::View::Cursor&)>;

// Shows the records of the ranges, which ascend, to `see`: from the key `from` on, over one
// snapshot, in turns with other scans, as many as the step may look at. Moves `from` to where the
// next portion begins. True: the end was reached.
Task<store::Result<bool>> walk(Step& step, std::vector<store::Range> ranges, std::string& from,
                               See see);

// The first record of a partition of a family: a container in its account's directory, say.
struct Partition {
  std::string name;
  store::RecordPtr record;
};
// Does what there is to do for a partition, from `key` on, which is empty at first and moved by the
// visit. True: it is through.
using Visit =
    std::function<Task<store::Result<bool>>(Step& step, Partition partition, std::string& key)>;

// Visits the partitions of a family one after the other, as many as the step may. Its cursor leads
// to the partition and to the key of the visit. True: the last one is through.
Task<store::Result<bool>> walk_partitions(Step& step, store::SpaceId space, store::Family family,
                                          Visit visit);

}  // namespace kyanite::jobs
