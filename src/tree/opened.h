// A file or directory that a client has open, and the way from there back to its entry. Handles
// follow renames: the open-file table knows where a file is, the store what it is.
#pragma once

#include <memory>
#include <string>

#include "base/task.h"
#include "concurrency/share_mode.h"
#include "store/occasion.h"
#include "tree/open_files.h"
#include "tree/tree.h"

namespace kyanite::tree {

// Used by one thread at a time, by any number of requests beside each other; what of it changes is
// where the entry was found last.
struct Opened {
  Tree tree;
  FileKey file;
  HandleId handle = 0;  // 0: of what a snapshot shows, which is nobody's to change.
  std::shared_ptr<const SnapshotLife> snapshot;  // Which that is; null: of none.
  bool directory = false;
  concurrency::AccessSet access;
  bool only_appends = false;  // What the file has already is not this handle's to overwrite.
  // Where it was found last. The path has the names as they are stored.
  EntryId parent = kRootId;
  std::string folded;
  std::string path;
  uint64_t moves = 0;  // As the handle counts them.

  // Times that what is done through this handle does not move.
  struct Frozen {
    bool created = false;
    bool accessed = false;
    bool written = false;
    bool changed = false;
  } frozen;
  // The time of its first write is told soon; of further ones only when it flushes or closes.
  bool wrote = false;

  bool is_root() const { return folded.empty(); }
  // Nobody closed it, but it is good for nothing: its handle was closed by force, or its snapshot
  // is deleted.
  bool ended() const {
    return snapshot != nullptr ? snapshot->over() : !tree.open_files->is_open(handle);
  }
};

// The entry as it is stored; what was written and is not stored yet is Drafts::lay_over's to add.
// kNoSuchHandle once the handle was closed by force, or the file is gone.
Task<Result<SeenEntry>> find_opened(store::Occasion& occasion, Opened& opened);

// The same with all that was written, stored or not.
Task<Result<Entry>> state_of(store::Occasion& occasion, Opened& opened);

// Where a path leads: the id of its directory is known, this is the name in it.
std::string folded_name(const Tree& tree, std::string_view path);

// Read, decide, commit for what somebody has open. Everything written before is stored first.
// `edit` may be called again after a conflict.
using OpenedEdit = std::function<Task<Result<void>>(Entry& entry, store::Commit& commit)>;
Task<Result<Entry>> change_opened(store::Occasion& occasion, Opened& opened,
                                  const OpenedEdit& edit);

}  // namespace kyanite::tree
