#include "tree/rename.h"

#include <memory>
#include <utility>
#include <vector>

#include "store/transact.h"
#include "tree/admission.h"
#include "tree/announce.h"
#include "tree/drafts.h"
#include "tree/tree_commit.h"

namespace kyanite::tree {

using concurrency::FileOperation;

namespace {

// Both ends of a rename as they were found.
struct Ends {
  Way from_way;
  Way to_way;
  std::optional<SeenEntry> source;
  std::optional<SeenEntry> destination;

  bool same_place() const {
    return from_way.parent() == to_way.parent() && from_way.folded == to_way.folded;
  }
};

Task<Result<Ends>> find_ends(store::Attempt& attempt, const Tree& tree, const Rename& order) {
  store::Occasion& occasion = attempt.occasion();
  Ends ends;
  auto from = co_await follow(occasion, tree, order.from);
  if (!from) co_return from.error();
  ends.from_way = std::move(*from);
  auto to = co_await follow(occasion, tree, order.to);
  if (!to) co_return to.error();
  ends.to_way = std::move(*to);
  std::vector<store::Key> keys;
  for (const Way* way : {&ends.from_way, &ends.to_way})
    keys.push_back(entry_key(tree.space, way->parent(), way->folded));
  if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn) co_return Error(turn.error());
  auto source = co_await find_entry(occasion, tree, ends.from_way);
  if (!source) co_return source.error();
  ends.source = std::move(*source);
  auto destination = co_await find_entry(occasion, tree, ends.to_way);
  if (!destination) co_return destination.error();
  ends.destination = std::move(*destination);
  co_return std::move(ends);
}

Result<void> check_ends(const Tree& tree, const Rename& order, const Ends& ends, Time now) {
  if (!ends.source || ends.source->entry->directory != (order.kind == Kind::kDirectory))
    return Error(Reason::kNotFound);
  const Entry& source = *ends.source->entry;
  if (order.by != 0 && source.id != order.id) return Error(Reason::kNotFound);
  const Rules moves{order.kind, FileOperation::kRenameFile, concurrency::LeaseUse::kExclusive, true,
                    true,       order.source_lease};
  if (auto passed = check_entry(moves, &source, now); !passed) return passed.error();
  for (const auto& directory : ends.to_way.directories) {
    if (directory.entry->id == source.id) return Error(Reason::kIntoItself);
  }
  if (!ends.destination || ends.same_place()) return {};
  const FileKey there = tree.key(ends.destination->entry->id);
  if (order.by == 0 && tree.open_files->is_delete_pending(there))
    return Error(Refusal::kDeletePending);
  if (!order.destination.replaces) return Error(Reason::kExists);
  const Entry& replaced = *ends.destination->entry;
  if (order.by != 0 && (replaced.directory || (replaced.smb.attributes & kReadOnlyAttribute) != 0 ||
                        source.directory))
    return Error(Refusal::kAccessDenied);
  if (replaced.directory) return Error(Reason::kExists);
  return check_replaced(order.destination, ends.destination->entry.get(), now);
}

// The source, the destination that is replaced or the directory that is entered: what SMB clients
// must leave alone until the commit is done.
struct Admissions {
  OpenFiles::Admission source;
  OpenFiles::Admission destination;
};
struct NotAdmitted {
  FileKey file;
  Error why;
  HandleId by = 0;
};
using Admitted = kyanite::Result<Admissions, NotAdmitted>;

Task<Admitted> admit_by_handle(const Tree& tree, const Rename& order, const Ends& ends,
                               Awaited& awaited, OpenFiles::Precedence& precedence) {
  Admissions admissions;
  OpenFiles& table = *tree.open_files;
  auto moved = table.admit_rename_by(order.by, ends.source->entry->directory, precedence);
  if (!moved) co_return NotAdmitted{tree.key(order.id), moved.error(), order.by};
  admissions.source = std::move(*moved);
  if (ends.destination && !ends.same_place()) {
    const auto key = tree.key(ends.destination->entry->id);
    auto gone = table.admit(key, FileOperation::kDeleteFile, awaited);
    // Or is gone in a moment, if it is not by now.
    if (!gone && gone.error() == Error(Refusal::kDeletePending) &&
        (table.is_being_removed(key) || !table.is_delete_pending(key)))
      co_return NotAdmitted{key, Refusal::kCached, order.by};
    // Whatever is open is not replaced, and what waits to be deleted is open.
    if (!gone && (gone.error() == Error(Refusal::kSharingViolation) ||
                  gone.error() == Error(Refusal::kDeletePending)))
      co_return NotAdmitted{key, Refusal::kAccessDenied};
    if (!gone) co_return NotAdmitted{key, gone.error()};
    admissions.destination = std::move(*gone);
    co_return std::move(admissions);
  }
  const auto key = tree.key(ends.to_way.parent());
  auto entered = co_await table.admit_entering(key);
  if (!entered) co_return NotAdmitted{key, entered.error()};
  admissions.destination = std::move(*entered);
  co_return std::move(admissions);
}

Admitted admit(const Tree& tree, const Ends& ends, Awaited& awaited) {
  Admissions admissions;
  OpenFiles& table = *tree.open_files;
  const Entry& source = *ends.source->entry;
  const auto key = tree.key(source.id);
  auto moved = source.directory ? table.admit_directory_rename(key)
                                : table.admit(key, FileOperation::kRenameFile, awaited);
  if (!moved) return NotAdmitted{key, moved.error()};
  admissions.source = std::move(*moved);
  const bool replaces = ends.destination && !ends.same_place();
  const auto touched = tree.key(replaces ? ends.destination->entry->id : ends.to_way.parent());
  auto entered = table.admit(
      touched, replaces ? FileOperation::kDeleteFile : FileOperation::kListFiles, awaited);
  if (!entered) return NotAdmitted{touched, entered.error()};
  admissions.destination = std::move(*entered);
  return admissions;
}

Task<store::Result<void>> move_entry(TreeCommit& commit, const Ends& ends, Entry& entry) {
  if (auto begun = co_await commit.begin(); !begun) co_return begun.error();
  if (ends.same_place())  // Only the case of the name changes.
    co_return co_await commit.replace(ends.to_way, &*ends.source, &entry);
  // Two directories that are moved into each other at the same time must not both succeed.
  if (entry.directory) {
    commit.guard_whole(ends.to_way);
    commit.guard_whole(ends.from_way);
  }
  commit.enter(ends.to_way);
  auto gone = co_await commit.replace(ends.from_way.parent(), ends.from_way.folded, &*ends.source,
                                      nullptr, &entry);
  if (!gone) co_return gone.error();
  const SeenEntry* replaced = ends.destination ? &*ends.destination : nullptr;
  co_return co_await commit.replace(ends.to_way, replaced, &entry);
}

}  // namespace

Task<Result<Changed>> rename(store::Occasion& occasion, const Tree& tree, const Rename& order,
                             const Retouch& retouch) {
  CHECK(!tree.shown);
  std::optional<Ends> ends;
  bool begun = false;     // The commit of the rename itself: what failed before moved nothing.
  Admissions admissions;  // Until the change is durable.
  OpenFiles::Precedence precedence;
  Awaited awaited;
  std::optional<FileKey> settled;  // What is written from then on comes after the rename.
  bool released = false;           // What is open below may be so only because its client keeps it.
  auto decide = [&](store::Attempt& attempt) -> Task<Result<Changed>> {
    admissions = {};
    begun = false;
    auto found = co_await find_ends(attempt, tree, order);
    if (!found) co_return found.error();
    ends = std::move(*found);
    if (auto passed = check_ends(tree, order, *ends, occasion.now); !passed)
      co_return passed.error();
    // It comes after what was written before it, also when there is a crash. Files wait for that
    // when REST is admitted.
    const FileKey source = tree.key(ends->source->entry->id);
    const bool is_settled = settled == source || (order.by == 0 && order.kind == Kind::kFile);
    if (!is_settled && tree.open_files->drafts().has(source)) {
      if (auto stored = co_await tree.open_files->drafts().settle(source); !stored)
        co_return stored.error();
      settled = source;
      co_return Error(store::Error::kConflict);
    }
    std::optional<Admitted> admitted;
    if (order.by != 0) {
      admitted.emplace(co_await admit_by_handle(tree, order, *ends, awaited, precedence));
    } else {
      admitted.emplace(admit(tree, *ends, awaited));
    }
    if (!*admitted) {
      const NotAdmitted& refused = admitted->error();
      if (order.by == 0 && order.kind == Kind::kDirectory &&
          refused.why == Error(Refusal::kSharingViolation) && !std::exchange(released, true)) {
        attempt.end();
        auto below = co_await tree.open_files->release_below(source, occasion.deadline);
        if (!below) co_return below.error();
        co_return Error(store::Error::kConflict);
      }
      co_return co_await not_admitted(attempt, tree, refused.file, refused.why, refused.by);
    }
    admissions = std::move(**admitted);
    Entry entry = *ends->source->entry;
    entry.name = ends->to_way.name;
    entry.deleting = 0;
    retouch(entry);
    touch(entry, occasion.now);
    TreeCommit commit(attempt, tree.space, tree.usage);
    if (auto moved = co_await move_entry(commit, *ends, entry); !moved)
      co_return Error(moved.error());
    begun = true;
    co_return Changed{std::make_unique<Entry>(std::move(entry)), ends->to_way.parent()};
  };
  auto renamed = co_await store::transact(occasion, decide);
  if (renamed) {
    admissions.source.renamed(ends->to_way.ancestors(), ends->to_way.path());
    if (ends->destination && !ends->same_place())
      tree.open_files->drafts().discard(tree.key(ends->destination->entry->id));
    if (is_watched(tree))
      announce_moved(tree, place_at(ends->from_way, *ends->source->entry),
                     place_at(ends->to_way, *renamed->entry), *renamed->entry);
    if (order.by != 0) {
      for (const Way* way : {&ends->from_way, &ends->to_way})
        co_await tree.open_files->drafts().note_entry(occasion, tree, way->ancestors(),
                                                      way->path());
    }
  } else if (begun && renamed.error() == Error(store::Error::kUnknown)) {
    admissions.source.perhaps_renamed(ends->to_way.ancestors(), ends->to_way.path());
  }
  co_return std::move(renamed);
}

}  // namespace kyanite::tree
