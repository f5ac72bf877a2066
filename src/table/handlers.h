// The handlers of the operation table, one file each, named after the operation.
#pragma once

#include "base/task.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::table {

using Outcome = Task<wire::Result<http::Reply>>;

Outcome query_tables(service::Call& call);
Outcome create_table(service::Call& call);
Outcome delete_table(service::Call& call);
Outcome get_table_acl(service::Call& call);
Outcome set_table_acl(service::Call& call);

Outcome query_entities(service::Call& call);
Outcome get_entity(service::Call& call);  // Query Entities with both keys
Outcome insert_entity(service::Call& call);
Outcome update_entity(service::Call& call);  // and Insert Or Replace Entity
Outcome merge_entity(service::Call& call);   // and Insert Or Merge Entity
Outcome delete_entity(service::Call& call);
Outcome entity_group_transaction(service::Call& call);

}  // namespace kyanite::table
