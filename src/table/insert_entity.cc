// Insert Entity: POST /{table}
#include "table/change_reply.h"
#include "table/handlers.h"

namespace kyanite::table {

Outcome insert_entity(service::Call& call) {
  co_return co_await change_entity(call, Verb::kInsert);
}

}  // namespace kyanite::table
