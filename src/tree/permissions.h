// Permissions of files and directories. A share keeps each security descriptor once, under a key
// made from it; files refer to the key.
#pragma once

#include <string>
#include <string_view>

#include "base/task.h"
#include "store/occasion.h"
#include "tree/error.h"
#include "tree/records.h"

namespace kyanite::tree {

// What files and directories have unless a client says otherwise. Every share knows it without a
// record.
std::string_view default_permission();  // SDDL
const std::string& default_permission_key();
bool has_default_permission(const Entry& entry);

// The key of the permission, which is noted in the share if it is new. kBadPermission when the SDDL
// text is not a descriptor.
Task<Result<std::string>> add_permission(store::Occasion& occasion, store::SpaceId space,
                                         std::string_view sddl);

// The SDDL text behind a key. kBadPermissionKey for what is no key, kUnknownPermissionKey for one
// that the share does not know.
Task<Result<std::string>> find_permission(store::Occasion& occasion, store::SpaceId space,
                                          std::string_view key);

}  // namespace kyanite::tree
