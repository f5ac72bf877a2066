// Building the one commit that changes a tree. Whatever it relies on it guards: the entry itself,
// the state of the share (no snapshot was taken meanwhile), and the directory that something is put
// into.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/task.h"
#include "content/content.h"
#include "store/store.h"
#include "store/transact.h"
#include "tree/records.h"
#include "tree/tree.h"

namespace kyanite::tree {

// What an entry that is being changed notes as the generation of what it clears.
inline constexpr Generation kThisGeneration = UINT64_MAX;

// One commit on the tree of a share, being put together.
class TreeCommit {
 public:
  // Keeping what a snapshot shows of a large file may take long: kTimeout when it takes longer than
  // the attempt may.
  TreeCommit(store::Attempt& attempt, store::SpaceId space, Usage* usage)
      : store_(attempt.occasion().store()),
        space_(space),
        deadline_(attempt.occasion().deadline),
        attempt_(attempt),
        commit_(attempt.commit),
        usage_(usage) {}

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
  Task<store::Result<void>> replace(EntryId parent, std::string_view folded,
                                    const SeenEntry* before, Entry* after, const Entry* heir);
  Task<store::Result<void>> replace(const Way& way, const SeenEntry* before, Entry* after) {
    return replace(way.parent(), way.folded, before, after, after);
  }

  store::Commit& commit() { return commit_; }

 private:
  Task<store::Result<void>> preserve(const SeenEntry& before, bool content_goes_on);
  // Gives what is cleared now its generation, and forgets what no snapshot asks for.
  void settle_cleared(content::ClearedRuns& runs) const;
  // Once the commit is done the length of the file counts.
  void note_length(const store::Key& key, const SeenEntry* before, const Entry* after);

  content::Place place() const { return {space_, kSharePartition}; }

  store::Store& store_;
  const store::SpaceId space_;
  const Deadline deadline_;
  ShareState state_;
  store::Attempt& attempt_;
  store::Commit& commit_;
  Usage* const usage_;
};

}  // namespace kyanite::tree
