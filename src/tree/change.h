// Changing a tree: one entry that exists, a new one, and taking one away. Each is read, decide,
// commit; leases, the read-only attribute and what clients have open are looked at here. Renaming
// is in tree/rename.h.
//
// All of them are for a tree as it is now, not for what a snapshot shows, and for callers who wait:
// what they return is durable.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/task.h"
#include "concurrency/lease.h"
#include "concurrency/share_mode.h"
#include "store/occasion.h"
#include "store/store.h"
#include "tree/error.h"
#include "tree/tree.h"

namespace kyanite::tree {

// How an operation meets what is there.
struct Rules {
  Kind kind = Kind::kFile;
  concurrency::FileOperation operation = concurrency::FileOperation::kSetFileProperties;
  // Nothing: the operation does not use the lease.
  std::optional<concurrency::LeaseUse> use = concurrency::LeaseUse::kExclusive;
  bool writes = true;  // Refused while a copy into the file is pending, and for read-only files,
  bool ignores_read_only = false;            // unless this is set.
  std::optional<std::string> lease_id = {};  // That the caller has.
};

// The lease and, for writes, the read-only attribute and a pending copy. `entry` is null where
// there is nothing.
Result<void> check_entry(const Rules& rules, const Entry* entry, Time now);

// A change happens now: new ETag, and an expired or broken lease forgets its holder.
void touch(Entry& entry, Time now);

// An entry after the commit, and the directory it is in. It passes through several coroutines,
// which move what they return, and entries are large.
struct Changed {
  std::unique_ptr<Entry> entry;  // Never null.
  EntryId parent = kRootId;
};

// Which bytes of the file are read.
using Reading = std::function<ByteRange(const Entry& file)>;

// For reads of an entry, as it is now or as a snapshot shows it: it is of the kind that the rules
// say, the lease id is right, nobody who has it open has denied reading, or locked for himself what
// is read (kLockConflict), and nothing that is read is half of what was written under a lock of it.
Task<Result<Located>> read_entry(store::Occasion& occasion, const Tree& tree, const Path& path,
                                 const Rules& rules, const Reading& reading = {});

// Changes the entry after the checks and may add content to the commit. May be called again after a
// conflict.
using Edit =
    std::function<Task<Result<void>>(Entry& entry, store::Commit& commit, const Located& before)>;
Task<Result<Changed>> change_entry(store::Occasion& occasion, const Tree& tree, const Path& path,
                                   const Rules& rules, const Edit& edit);

// A new file or directory, perhaps a file in the place of another one, whose id and lease go on.
struct Creation {
  bool directory = false;
  bool replaces = false;    // kExists where something is, unless this is set and both are files.
  bool may_replace = true;  // Else kMayNotReplace, once nothing else is in the way.
  bool ignores_read_only = false;
  std::optional<std::string> lease_id = {};
  EntryId id = 0;        // Of a new entry, from new_id(); 0: any.
  bool pending = false;  // A copy is written to it later, which no handle may interfere with.
};
EntryId new_id();
// Gives the new entry, which has its name, id and ETag, everything else, and adds its content to
// the commit. May be called again after a conflict.
using Fill = std::function<Task<Result<void>>(Entry& entry, const Way& way, store::Commit& commit)>;
Task<Result<Changed>> create_entry(store::Occasion& occasion, const Tree& tree, const Path& path,
                                   const Creation& creation, const Fill& fill);

// kIsDirectory for a directory; then as a write to `before`; kMayNotReplace at last.
Result<void> check_replaced(const Creation& creation, const Entry* before, Time now);

Task<Result<void>> delete_file(store::Occasion& occasion, const Tree& tree, const Path& path,
                               const std::optional<std::string>& lease_id);

// kNotEmpty while there is something in it.
//
// Emptiness is no record that a commit could guard. So the directory is marked first; whoever puts
// something into it withdraws the mark by the same commit. If it is found empty while the mark
// stands, the second commit takes it away.
Task<Result<void>> delete_directory(store::Occasion& occasion, const Tree& tree, const Path& path);

}  // namespace kyanite::tree
