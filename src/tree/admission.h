// Decisions on a tree that pass through the open-file table.
#pragma once

#include <optional>

#include "base/task.h"
#include "store/transact.h"
#include "tree/change.h"
#include "tree/error.h"
#include "tree/open_files.h"
#include "tree/tree.h"

namespace kyanite::tree {

// The file whose clients an operation has waited for, through all its attempts: what they write
// from then on comes after it. Meanwhile the name may have become another file's, whose clients it
// has not waited for.
using Awaited = std::optional<FileKey>;

// A decision was not admitted to a file, for this reason: what it returns. When clients were asked
// to give back what they cache, waits until they have, without the decision's turn, since they have
// changes to bring; then the decision is made again (kConflict). The caller holds no admission.
Task<Error> not_admitted(store::Attempt& attempt, const Tree& tree, FileKey file, Error why,
                         Awaited& awaited);

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
