// Set Table ACL: PUT /{table}?comp=acl
#include "account/receive_policies.h"
#include "table/handlers.h"
#include "table/table.h"

namespace kyanite::table {

Outcome set_table_acl(service::Call& call) {
  auto policies = co_await account::receive_access_policies(call);
  if (!policies) co_return policies.error();
  auto edit = [&](std::optional<Table>& table) -> wire::Result<void> {
    if (!table) return wire::Error(wire::Code::kResourceNotFound);
    table->policies = *policies;
    return {};
  };
  auto set = co_await service::update<Table>(call, table_key(call, call.target.container), edit);
  if (!set) co_return set.error();
  co_return http::Reply(204);
}

}  // namespace kyanite::table
