// Access masks: what a client asks for, what it is granted, and what share modes make of it.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/task.h"
#include "concurrency/share_mode.h"
#include "smb/numbers.h"
#include "store/occasion.h"
#include "tree/error.h"
#include "tree/tree.h"

namespace kyanite::drive {

// What the client may do at most with an entry of a directory, or with something new there (null):
// what the security descriptors of both let it, less what is read-only.
Task<tree::Result<uint32_t>> maximal_access(store::Occasion& occasion, const tree::Tree& tree,
                                            const tree::Entry* entry, const tree::Entry& parent);

// Whether it asks for anything, and for nothing that has no meaning.
bool is_access(uint32_t asked);
// What is granted of what was asked for: ACCESS_DENIED unless it is all.
Result<uint32_t, smb::Status> grant_access(uint32_t asked, uint32_t most);

// As share modes see it.
concurrency::AccessSet access_set(uint32_t access);
concurrency::AccessSet share_set(uint32_t share_access);

}  // namespace kyanite::drive
