#include "table/table.h"

#include "base/bytes.h"
#include "service/directory.h"

namespace kyanite::table {

using service::Call;

store::Key table_key(const Call& call, std::string_view name) {
  return store::Key(service::directory_space(call.target.account), service::kTablesFamily,
                    ascii_lower(name));
}

Task<wire::Result<store::SpaceId>> find_table(Call& call) {
  const auto key = table_key(call, call.target.container);
  auto loaded = co_await service::load_shared<Table>(call, key);
  if (!loaded) co_return loaded.error();
  if (loaded->value == nullptr) co_return wire::Error(wire::Code::kTableNotFound);
  co_return loaded->value->space;
}

}  // namespace kyanite::table
