// Merge Entity and Insert Or Merge Entity: PATCH or MERGE /{table}(PartitionKey='..',RowKey='..')
//
// With If-Match the entity must be there and, unless it says *, be the one named; without it
// nothing is checked and a missing entity is made.
#include "table/change_reply.h"
#include "table/handlers.h"

namespace kyanite::table {

Outcome merge_entity(service::Call& call) { co_return co_await change_entity(call, Verb::kMerge); }

}  // namespace kyanite::table
