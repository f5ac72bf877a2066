// The tree of files and directories of a share: following a path to what is there.
//
// A path is followed from the root by ids, so it does not matter to what lies below when a
// directory moves.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/task.h"
#include "content/content.h"
#include "store/occasion.h"
#include "store/store.h"
#include "store/transact.h"
#include "tree/error.h"
#include "tree/names.h"
#include "tree/open_files.h"
#include "tree/records.h"
#include "tree/usage.h"

namespace kyanite::tree {

// A tree, or what a snapshot shows of it.
struct Tree {
  store::SpaceId space = 0;
  Time created;                     // Its root's, as long as nothing of that was set.
  OpenFiles* open_files = nullptr;  // What is open of it; never null.
  NameRules names = kShareNames;
  std::optional<Generation> shown = {};  // Set: what the snapshot of this generation shows.
  Usage* usage = nullptr;                // Its quota, and how much is used; null: there is none.

  uint64_t used_bytes() const { return usage == nullptr ? 0 : usage->bytes(space).value_or(0); }
  // kQuotaExceeded when a file that becomes so much longer finds no room: for now,
  Result<void> check_room(uint64_t before, uint64_t after) const {
    if (after <= before || usage == nullptr || usage->has_room(space, after - before)) return {};
    return Error(Reason::kQuotaExceeded);
  }
  // or until the promise ends, which nobody else is given meanwhile.
  Result<Usage::Promise> promise_room(uint64_t before, uint64_t after) const {
    if (after <= before || usage == nullptr) return Usage::Promise();
    Usage::Promise promise(*usage, space, after - before);
    if (!promise.kept()) return Error(Reason::kQuotaExceeded);
    return promise;
  }

  FileKey key(EntryId id) const { return {space, id}; }
  content::Place content_place() const { return {space, kSharePartition}; }
};

// An entry where it was found: as it is now, or a former state that a snapshot shows.
struct SeenEntry {
  EntryId parent = kRootId;
  std::string folded;
  store::Key key;
  store::RecordPtr record;  // Null for a root of which nothing was ever set.
  std::shared_ptr<const Entry> entry;

  store::Guard guard() const { return {key, record}; }
};

// The way to an entry.
struct Way {
  std::vector<SeenEntry> directories;  // From below the root to the parent.
  std::string name;                    // The last component, as it was asked for; "" for the root.
  std::string folded;                  // What it is stored under.

  EntryId parent() const { return directories.empty() ? kRootId : directories.back().entry->id; }
  bool to_root() const { return name.empty(); }
  // Ids from the root to the parent; none for the root.
  std::vector<EntryId> ancestors() const;
  // The path with the names as they are stored; `name` stands for the last one.
  std::string path() const;
};

// Follows the path up to the parent. kNoParent when there is no such directory, whatever is to
// happen there.
Task<Result<Way>> follow(store::Occasion& occasion, const Tree& tree, const Path& path);

// The entry at the end of the way, if there is one. The root is always there.
Task<Result<std::optional<SeenEntry>>> find_entry(store::Occasion& occasion, const Tree& tree,
                                                  const Way& way);

// What lies under this name in a directory. The root lies in itself, without a name.
Task<Result<std::optional<SeenEntry>>> find_child(store::Occasion& occasion, const Tree& tree,
                                                  EntryId parent, std::string folded);

// The directory that the way leads into. The root is in itself.
Task<Result<std::shared_ptr<const Entry>>> parent_of(store::Occasion& occasion, const Tree& tree,
                                                     const Way& way);

enum class Kind { kFile, kDirectory, kEither };
struct Located {
  Tree tree;
  Way way;
  SeenEntry found;

  FileKey key() const { return tree.key(found.entry->id); }
};

// Both, for reads. kNotFound unless there is a directory (or file) at the end.
Task<Result<Located>> locate(store::Occasion& occasion, const Tree& tree, const Path& path,
                             Kind kind);

// The same for a change of the tree as it is now: in line with the other changes of the entry.
Task<Result<Located>> locate_for_change(store::Attempt& attempt, const Tree& tree, const Path& path,
                                        Kind kind);

}  // namespace kyanite::tree
