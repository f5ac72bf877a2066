// Decisions on a tree that pass through the open-file table.
#pragma once

#include "base/task.h"
#include "store/transact.h"
#include "tree/error.h"
#include "tree/tree.h"

namespace kyanite::tree {

// A decision was not admitted to a file, for this reason: what it returns. When clients were asked
// to give back what they cache, waits until they have, without the decision's turn, since they have
// changes to bring; then the decision is made again (kConflict). The caller holds no admission.
Task<Error> not_admitted(store::Attempt& attempt, const Tree& tree, FileKey file, Error why);

}  // namespace kyanite::tree
