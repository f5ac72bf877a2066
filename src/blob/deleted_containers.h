// Deleted containers that are not gone yet: those that can be restored, and those whose name stays
// taken for a while.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "blob/records.h"
#include "service/call.h"
#include "store/store.h"
#include "wire/error.h"

namespace kyanite::blob {

struct DeletedEntry {
  store::Key key;
  store::RecordPtr record;
  DeletedContainer value;
};

store::Key deleted_container_key(std::string_view account, std::string_view name, Time deleted);
// How clients name a deletion: x-ms-deleted-container-version.
std::string deletion_version(const DeletedContainer& deleted);

// The deletions of one name, oldest first.
Task<store::Result<std::vector<DeletedEntry>>> list_deletions(store::Store& store,
                                                              std::string_view account,
                                                              std::string_view name);

// Moves containers whose time is over to the dead, whose spaces are cleaned. Looks at all deletions
// of the account.
Task<store::Result<void>> bury_overdue(store::Store& store, std::string_view account, Time now);

}  // namespace kyanite::blob
