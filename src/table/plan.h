// From a filter to the key ranges that can hold its matches. The ranges may hold more, never less:
// the filter is still asked about every row. A filter that pins PartitionKey, or PartitionKey and a
// range of RowKey, therefore costs what it returns and not what the table holds.
#pragma once

#include <vector>

#include "auth/caller.h"
#include "store/key.h"
#include "table/filter.h"

namespace kyanite::table {

// Disjoint, ascending. Empty: nothing can match.
std::vector<store::Range> plan(store::SpaceId space, const Filter* filter);

// What of the ranges lies within the keys that a SAS is confined to.
std::vector<store::Range> confine(std::vector<store::Range> ranges, store::SpaceId space,
                                  const auth::KeyRange& keys);
// What of the ranges lies at or after the entity.
std::vector<store::Range> start_at(std::vector<store::Range> ranges, store::SpaceId space,
                                   std::string_view partition, std::string_view row);

}  // namespace kyanite::table
