#include "table/table.h"

#include "base/bytes.h"
#include "service/directory.h"

namespace kyanite::table {

using service::Call;

store::Key table_key(const Call& call, std::string_view name) {
  return store::Key(service::directory_space(call.target.account), service::kTablesFamily,
                    ascii_lower(name));
}

Task<wire::Result<Table>> load_table(Call& call) {
  auto loaded = co_await service::load<Table>(call, table_key(call, call.target.container));
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return wire::Error(wire::Code::kTableNotFound);
  co_return std::move(*loaded->value);
}

}  // namespace kyanite::table
