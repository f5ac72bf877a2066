// The tables of an account: their records, and finding the one a request addresses.
#pragma once

#include <string>
#include <vector>

#include "account/access_policies.h"
#include "base/task.h"
#include "service/call.h"
#include "service/storage.h"
#include "store/key.h"
#include "wire/error.h"

namespace kyanite::table {

// In the account's directory, family kTablesFamily, under the name in lower case.
struct Table {
  store::SpaceId space = 0;  // The incarnation: where its entities are.
  Time created;
  std::string name;  // in the case it was created with
  std::vector<account::StoredPolicy> policies;

  template <class Io>
  void fields(Io& io) {
    io(1, space);
    io(2, created);
    io(3, name);
    io(4, policies);
  }
};

store::Key table_key(const service::Call& call, std::string_view name);

// The space of the table addressed by an operation on entities; 404 TableNotFound when there is
// none.
Task<wire::Result<store::SpaceId>> find_table(service::Call& call);

}  // namespace kyanite::table
