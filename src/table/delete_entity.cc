// Delete Entity: DELETE /{table}(PartitionKey='..',RowKey='..')
#include "table/change_reply.h"
#include "table/handlers.h"

namespace kyanite::table {

Outcome delete_entity(service::Call& call) {
  co_return co_await change_entity(call, Verb::kDelete);
}

}  // namespace kyanite::table
