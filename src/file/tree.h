// The tree of files and directories of a share: following a path, and building the one commit that
// changes it.
//
// A path is followed from the root by ids, so it does not matter to what lies below when a
// directory moves. Whatever a commit relies on it guards: the entry itself, the share's state (no
// snapshot was taken meanwhile), and the directory that something is put into.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "file/names.h"
#include "file/open_files.h"
#include "file/records.h"
#include "file/share.h"
#include "service/call.h"
#include "store/store.h"
#include "store/transact.h"
#include "wire/error.h"

namespace kyanite::file {

// An entry where it was found: as it is now, or a former state that a snapshot shows.
struct Found {
  EntryId parent = kRootId;
  std::string folded;
  store::Key key;
  store::RecordPtr record;  // Null for a root of which nothing was ever set.
  std::shared_ptr<const Entry> entry;

  store::Guard guard() const { return {key, record}; }
};

inline FileKey file_key(const Tree& tree, EntryId id) { return {tree.space(), id}; }
inline content::Place content_place(const Tree& tree) { return {tree.space(), kSharePartition}; }

// The way to an entry.
struct Way {
  std::vector<Found> directories;  // From below the root to the parent.
  std::string name;                // The last component, as it was asked for; "" for the root.
  std::string folded;

  EntryId parent() const { return directories.empty() ? kRootId : directories.back().entry->id; }
  bool to_root() const { return name.empty(); }
  // Ids from the root to the parent; none for the root.
  std::vector<EntryId> ancestors() const;
  // The path with the names as they are stored; `name` stands for the last one.
  std::string path() const;
};

// Follows the path up to the parent. 404 ParentNotFound when there is no such directory, whatever
// is to happen there.
Task<wire::Result<Way>> follow(service::Call& call, const Tree& tree, const Path& path);

// The entry at the end of the way, if there is one.
Task<wire::Result<std::optional<Found>>> find_entry(service::Call& call, const Tree& tree,
                                                    const Way& way);

// Both, for reads: 404 ResourceNotFound unless there is a directory (or file) at the end.
enum class Kind { kFile, kDirectory, kEither };
struct Located {
  Tree tree;
  Way way;
  Found found;

  FileKey key() const { return file_key(tree, found.entry->id); }
};
Task<wire::Result<Located>> locate(service::Call& call, Kind kind);

// The same for a change of the share itself: in line with the other changes of the entry.
Task<wire::Result<Located>> locate_for_change(service::Call& call, const Tree& tree,
                                              const Path& path, Kind kind, store::Attempt& attempt);

// What an entry that is being changed notes as the generation of what it clears.
inline constexpr Generation kThisGeneration = UINT64_MAX;

// One commit on the tree of a share, being put together.
class TreeCommit {
 public:
  // Keeping what a snapshot shows of a large file may take long: kTimeout when it takes longer than
  // the attempt may.
  TreeCommit(store::Attempt& attempt, store::SpaceId space)
      : store_(attempt.occasion().store()),
        space_(space),
        deadline_(attempt.occasion().deadline),
        commit_(attempt.commit) {}

  // Reads what all changes of the tree depend on. To be called first.
  Task<store::Result<void>> begin();

  // Something is put into the directory: it must still be what was found, and whoever is about to
  // delete it must look again.
  void enter(const Way& way);
  // The same of all directories on the way.
  void guard_whole(const Way& way);

  // `before` (null: nothing) becomes `after` (null: nothing). What a snapshot shows of it stays
  // readable there. `heir` is the entry that goes on with the content of `before`: `after`, unless
  // the content moves elsewhere.
  Task<store::Result<void>> replace(EntryId parent, std::string_view folded, const Found* before,
                                    Entry* after, const Entry* heir);
  Task<store::Result<void>> replace(const Way& way, const Found* before, Entry* after) {
    return replace(way.parent(), way.folded, before, after, after);
  }

  store::Commit& commit() { return commit_; }

 private:
  Task<store::Result<void>> preserve(const Found& before, bool content_goes_on);
  // Gives what is cleared now its generation, and forgets what no snapshot asks for.
  void settle_cleared(content::ClearedRuns& runs) const;

  content::Place place() const { return {space_, kSharePartition}; }

  store::Store& store_;
  const store::SpaceId space_;
  const Deadline deadline_;
  ShareState state_;
  store::Commit& commit_;
};

}  // namespace kyanite::file
