#include "table/table.h"

#include "base/bytes.h"
#include "lifetime/directory.h"
#include "service/operation.h"

namespace kyanite::table {

using service::Call;

store::Key table_key(const Call& call, std::string_view name) {
  return store::Key(lifetime::directory_space(call.target.account), lifetime::kTablesFamily,
                    ascii_lower(name));
}

namespace {
// A path below a table is taken for that of an entity, which does not exist.
wire::Error nothing_below(const Call& call) {
  if (call.operation->reads()) return wire::Error(wire::Code::kNotImplemented);
  if (call.headers().has("If-Match")) return wire::Error(wire::Code::kResourceNotFound);
  return wire::Error(wire::Code::kInvalidInput).saying("Request url is invalid.");
}
}  // namespace

Task<wire::Result<store::SpaceId>> find_table(Call& call) {
  const auto key = table_key(call, call.target.container);
  auto loaded = co_await service::load_shared<Table>(call, key);
  if (!loaded) co_return loaded.error();
  if (loaded->value == nullptr) co_return wire::Error(wire::Code::kTableNotFound);
  if (!call.target.object.empty()) co_return nothing_below(call);
  co_return loaded->value->space;
}

}  // namespace kyanite::table
