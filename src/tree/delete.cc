// Taking files and directories away: see tree/change.h.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "store/stored.h"
#include "store/transact.h"
#include "tree/admission.h"
#include "tree/announce.h"
#include "tree/change.h"
#include "tree/delete.h"
#include "tree/drafts.h"
#include "tree/tree_commit.h"

namespace kyanite::tree {

namespace {

// The entry leaves its place.
Task<Result<void>> take_away(store::Attempt& attempt, const Tree& tree, const SeenEntry& found) {
  TreeCommit commit(attempt, tree.space, tree.usage);
  auto done = co_await commit.begin();
  if (done) done = co_await commit.replace(found.parent, found.folded, &found, nullptr, nullptr);
  if (!done) co_return Error(done.error());
  co_return Result<void>();
}

// Marks the directory, unless somebody else has already: a commit of its own.
Task<Result<void>> mark(store::Occasion& occasion, SeenEntry& found) {
  if (found.entry->deleting) co_return Result<void>();
  Entry entry = *found.entry;
  entry.deleting = random_u64() | 1;
  auto marked = store::to_record(entry);
  store::Commit commit;
  commit.expect(found.key, found.record);
  commit.put(found.key, marked);
  auto done = co_await occasion.store().commit(std::move(commit));
  if (!done) co_return Error(done.error());
  found.record = std::move(marked);
  co_return Result<void>();
}

// A directory that is empty, and known to be so by this attempt's commit.
Task<Result<void>> take_empty_away(store::Attempt& attempt, const Tree& tree, SeenEntry& found) {
  store::Occasion& occasion = attempt.occasion();
  const EntryId id = found.entry->id;
  // A full directory is refused without being written to.
  if (auto empty = co_await require_empty(occasion, tree, id); !empty) co_return empty.error();
  if (auto marked = co_await mark(occasion, found); !marked) co_return marked.error();
  if (auto empty = co_await require_empty(occasion, tree, id); !empty) co_return empty.error();
  co_return co_await take_away(attempt, tree, found);
}

}  // namespace

Task<Result<void>> require_empty(store::Occasion& occasion, const Tree& tree, EntryId directory) {
  bool empty = false;
  const auto range =
      store::Range::rows(tree.space, kEntries, kSharePartition, entry_row(directory, {}));
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    empty = !cursor->valid();
    return cursor->status();
  };
  auto looked = co_await occasion.store().look(look);
  if (!looked) co_return Error(looked.error());
  if (!empty) co_return Error(Reason::kNotEmpty);
  co_return Result<void>();
}

Task<Result<std::shared_ptr<const Entry>>> remove_entry(store::Occasion& occasion, const Tree& tree,
                                                        EntryId parent, std::string folded,
                                                        EntryId id) {
  using Removed = std::shared_ptr<const Entry>;
  const auto key = entry_key(tree.space, parent, folded);
  auto decide = [&](store::Attempt& attempt) -> Task<Result<Removed>> {
    std::vector<store::Key> keys(1, key);
    if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn)
      co_return Error(turn.error());
    auto found = co_await find_child(occasion, tree, parent, folded);
    if (!found) co_return found.error();
    if (!*found || (*found)->entry->id != id) co_return Removed();
    const Removed removed = (*found)->entry;
    auto taking = removed->directory ? take_empty_away(attempt, tree, **found)
                                     : take_away(attempt, tree, **found);
    auto taken = co_await std::move(taking);
    if (taken) co_return removed;
    if (taken.error() != Error(Reason::kNotEmpty)) co_return taken.error();
    attempt.commit = {};
    co_return Removed();
  };
  co_return co_await store::transact(occasion, decide);
}

namespace {
// What is at the path leaves its place; a directory only when it is empty.
Task<Result<void>> delete_entry(store::Occasion& occasion, const Tree& tree, const Path& path,
                                const Rules& rules) {
  Admitting admitting;  // Until the change is durable.
  FileKey removed;
  std::optional<Located> watched;
  auto decide = [&](store::Attempt& attempt) -> Task<Result<void>> {
    auto located = co_await locate_admitted(attempt, tree, path, rules, admitting);
    if (!located) co_return located.error();
    removed = located->key();
    auto taking = located->found.entry->directory ? take_empty_away(attempt, tree, located->found)
                                                  : take_away(attempt, tree, located->found);
    auto taken = co_await std::move(taking);
    if (is_watched(tree)) watched = std::move(*located);
    co_return taken;
  };
  auto done = co_await store::transact(occasion, decide);
  if (done) tree.open_files->drafts().discard(removed);
  if (done && watched) {
    const Entry& gone = *watched->found.entry;
    announce_removed(tree, place_at(watched->way, gone), gone);
  }
  co_return done;
}
}  // namespace

Task<Result<void>> delete_file(store::Occasion& occasion, const Tree& tree, const Path& path,
                               const std::optional<std::string>& lease_id) {
  const Rules rules{Kind::kFile,
                    concurrency::FileOperation::kDeleteFile,
                    concurrency::LeaseUse::kExclusive,
                    true,
                    false,
                    lease_id};
  co_return co_await delete_entry(occasion, tree, path, rules);
}

Task<Result<void>> delete_directory(store::Occasion& occasion, const Tree& tree, const Path& path) {
  if (path.empty()) co_return Error(Reason::kIsRoot);
  // Directories have no leases and are not written to.
  const Rules rules{
      Kind::kDirectory, concurrency::FileOperation::kDeleteFile, std::nullopt, false, true, {}};
  co_return co_await delete_entry(occasion, tree, path, rules);
}

}  // namespace kyanite::tree
