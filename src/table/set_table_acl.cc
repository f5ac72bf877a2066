// Set Table ACL: PUT /{table}?comp=acl
#include "auth/sas.h"
#include "table/handlers.h"
#include "table/table.h"
#include "transfer/body.h"

namespace kyanite::table {

Outcome set_table_acl(service::Call& call) {
  auto body = co_await transfer::read_body(call, transfer::kMaxXmlBody);
  if (!body) co_return body.error();
  auto policies =
      account::parse_access_policies(*body, auth::service_permissions(call.target.service));
  if (!policies) co_return policies.error();
  auto edit = [&](std::optional<Table>& table) -> wire::Result<void> {
    if (!table) return wire::Error(wire::Code::kResourceNotFound);
    table->policies.clear();
    for (const auto& policy : *policies) table->policies.push_back({policy});
    return {};
  };
  auto set = co_await service::update<Table>(call, table_key(call, call.target.container), edit);
  if (!set) co_return set.error();
  co_return http::Reply(204);
}

}  // namespace kyanite::table
