// Renaming: one commit takes the entry from its old place and puts it into the new one. What is
// below a directory hangs on its id and does not move.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/task.h"
#include "store/occasion.h"
#include "tree/change.h"
#include "tree/error.h"
#include "tree/tree.h"

namespace kyanite::tree {

struct Rename {
  Kind kind = Kind::kFile;  // of the source
  Path from;
  Path to;
  std::optional<std::string> source_lease = {};
  // What is said of a file at the destination. Directories are never replaced, nor replace.
  Creation destination = {};
  // Set: by a handle of the source, which is the entry of this id. Then what is in the way at the
  // destination (a directory, what is open, what is read-only) is kAccessDenied.
  HandleId by = 0;
  EntryId id = 0;
};

// What else changes of the entry; called before it has its new ETag, and again after a conflict.
using Retouch = std::function<void(Entry& entry)>;

// kNotFound without a source of the kind, kIntoItself for a directory that would go below itself,
// kExists for a destination that is not replaced.
Task<Result<Changed>> rename(store::Occasion& occasion, const Tree& tree, const Rename& order,
                             const Retouch& retouch);

}  // namespace kyanite::tree
