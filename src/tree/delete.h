// Taking away what nobody has open any more; for this folder. Deleting by path is in tree/change.h.
#pragma once

#include <string>

#include "base/task.h"
#include "store/occasion.h"
#include "tree/tree.h"

namespace kyanite::tree {

// kNotEmpty while there is something in the directory.
Task<Result<void>> require_empty(store::Occasion& occasion, const Tree& tree, EntryId directory);

// The entry that waited for its last handle to be closed. It stays if it is a directory into which
// something was put, and there is nothing to do if it is gone.
Task<Result<void>> remove_entry(store::Occasion& occasion, const Tree& tree, EntryId parent,
                                std::string folded, EntryId id);

}  // namespace kyanite::tree
