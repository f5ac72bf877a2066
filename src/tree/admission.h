// Decisions on a tree that pass through the open-file table.
#pragma once

#include "base/task.h"
#include "store/transact.h"
#include "tree/change.h"
#include "tree/error.h"
#include "tree/open_files.h"
#include "tree/tree.h"

namespace kyanite::tree {

using Awaited = OpenFiles::Awaited;

// A decision was not admitted to a file, for this reason: what it returns. When clients were asked
// to give back what they cache, waits until they have, without the decision's turn, since they have
// changes to bring; then the decision is made again (kConflict). The caller holds no admission.
// `by` is the handle of a rename.
Task<Error> not_admitted(store::Attempt& attempt, const Tree& tree, FileKey file, Error why,
                         HandleId by = 0);

// How far an operation came with what is open, until its change is durable.
struct Admitting {
  OpenFiles::Admission admission;
  Awaited awaited;
  Usage::Promise room;  // For what the file grows by.

  // A further attempt begins: nothing is held yet.
  void begin() {
    admission = {};
    room = {};
  }
};

// The entry that a decision changes: admitted to it until the change is durable, which is for as
// long as the caller keeps `admitting`, and free to be changed as the rules have it.
Task<Result<Located>> locate_admitted(store::Attempt& attempt, const Tree& tree, const Path& path,
                                      const Rules& rules, Admitting& admitting);

}  // namespace kyanite::tree
