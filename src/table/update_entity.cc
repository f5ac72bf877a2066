// Update Entity and Insert Or Replace Entity: PUT /{table}(PartitionKey='..',RowKey='..')
//
// With If-Match the entity must be there and, unless it says *, be the one named; without it
// nothing is checked and a missing entity is made.
#include "table/change_reply.h"
#include "table/handlers.h"

namespace kyanite::table {

Outcome update_entity(service::Call& call) {
  co_return co_await change_entity(call, Verb::kReplace);
}

}  // namespace kyanite::table
