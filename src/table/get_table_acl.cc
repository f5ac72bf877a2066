// Get Table ACL: GET or HEAD /{table}?comp=acl
#include "table/handlers.h"
#include "table/table.h"

namespace kyanite::table {

Outcome get_table_acl(service::Call& call) {
  auto loaded = co_await service::load<Table>(call, table_key(call, call.target.container));
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return wire::Error(wire::Code::kResourceNotFound);
  const auto& policies = loaded->value->policies;
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = account::write_access_policies({policies.begin(), policies.end()});
  co_return reply;
}

}  // namespace kyanite::table
