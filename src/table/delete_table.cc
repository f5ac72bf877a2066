// Delete Table: DELETE /Tables('name')
//
// The record moves from the live to the dead family in one commit: the name is free at once, the
// entities are unreachable at once, and their space is cleaned in the background.
#include "base/bytes.h"
#include "lifetime/dead_spaces.h"
#include "lifetime/directory.h"
#include "table/handlers.h"
#include "table/payload.h"
#include "table/table.h"

namespace kyanite::table {

Outcome delete_table(service::Call& call) {
  const std::string& name = call.target.container;
  if (name.empty()) co_return wire::Error(wire::Code::kMethodNotAllowed);
  const auto key = table_key(call, name);
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    auto loaded = co_await service::load<Table>(call, key);
    if (!loaded) co_return loaded.error();
    if (!loaded->value) co_return wire::Error(wire::Code::kResourceNotFound);
    const auto space = loaded->value->space;
    store::Commit& commit = attempt.commit;
    commit.expect(key, loaded->record);
    commit.remove(key);
    commit.writes.push_back(lifetime::bury(call.target.account, lifetime::kDeadTablesFamily,
                                           ascii_lower(name), space, call.now));
    co_return wire::Result<void>();
  };
  if (auto deleted = co_await store::transact(call, key, decide); !deleted)
    co_return deleted.error();
  co_return empty_reply();
}

}  // namespace kyanite::table
