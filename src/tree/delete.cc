// Taking files and directories away: see tree/change.h.
#include <optional>
#include <utility>

#include "store/stored.h"
#include "store/transact.h"
#include "tree/admission.h"
#include "tree/announce.h"
#include "tree/change.h"
#include "tree/tree_commit.h"

namespace kyanite::tree {

namespace {

// The entry leaves its place.
Task<Result<void>> take_away(store::Attempt& attempt, const Located& located) {
  TreeCommit commit(attempt, located.tree.space);
  auto done = co_await commit.begin();
  if (done) done = co_await commit.replace(located.way, &located.found, nullptr);
  if (!done) co_return Error(done.error());
  co_return Result<void>();
}

Task<Result<void>> require_empty(store::Occasion& occasion, const Tree& tree, EntryId directory) {
  bool empty = false;
  const auto range =
      store::Range::rows(tree.space, kEntries, kSharePartition, entry_row(directory, {}));
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    empty = !cursor->valid();
    return cursor->status();
  };
  auto looked = co_await occasion.store().read(look);
  if (!looked) co_return Error(looked.error());
  if (!empty) co_return Error(Reason::kNotEmpty);
  co_return Result<void>();
}

// Marks the directory, unless somebody else has already: a commit of its own.
Task<Result<void>> mark(store::Occasion& occasion, Found& found) {
  if (found.entry->deleting) co_return Result<void>();
  Entry entry = *found.entry;
  entry.deleting = true;
  auto marked = store::to_record(entry);
  store::Commit commit;
  commit.expect(found.key, found.record);
  commit.put(found.key, marked);
  auto done = co_await occasion.store().commit(std::move(commit));
  if (!done) co_return Error(done.error());
  found.record = std::move(marked);
  co_return Result<void>();
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
  OpenFiles::Admission admission;  // Until the change is durable.
  std::optional<Located> watched;
  auto decide = [&](store::Attempt& attempt) -> Task<Result<void>> {
    admission = {};
    auto located = co_await locate_for_change(attempt, tree, path, rules.kind);
    if (!located) co_return located.error();
    auto admitted = tree.open_files->admit(located->key(), rules.operation);
    if (!admitted) co_return co_await not_admitted(attempt, tree, located->key(), admitted.error());
    admission = std::move(*admitted);
    if (auto passed = check_entry(rules, located->found.entry.get(), occasion.now); !passed)
      co_return passed.error();
    auto taken = co_await take_away(attempt, *located);
    if (is_watched(tree)) watched = std::move(*located);
    co_return taken;
  };
  auto done = co_await store::transact(occasion, decide);
  if (done && watched) announce_removed(tree, watched->way, *watched->found.entry);
  co_return done;
}

Task<Result<void>> delete_directory(store::Occasion& occasion, const Tree& tree, const Path& path) {
  if (path.empty()) co_return Error(Reason::kIsRoot);
  OpenFiles::Admission admission;  // Until the change is durable.
  std::optional<Located> watched;
  auto decide = [&](store::Attempt& attempt) -> Task<Result<void>> {
    admission = {};
    auto located = co_await locate_for_change(attempt, tree, path, Kind::kDirectory);
    if (!located) co_return located.error();
    auto admitted = tree.open_files->admit(located->key(), concurrency::FileOperation::kDeleteFile);
    if (!admitted) co_return co_await not_admitted(attempt, tree, located->key(), admitted.error());
    admission = std::move(*admitted);
    const EntryId id = located->found.entry->id;
    // A full directory is refused without being written to.
    if (auto empty = co_await require_empty(occasion, tree, id); !empty) co_return empty.error();
    if (auto marked = co_await mark(occasion, located->found); !marked) co_return marked.error();
    if (auto empty = co_await require_empty(occasion, tree, id); !empty) co_return empty.error();
    auto taken = co_await take_away(attempt, *located);
    if (is_watched(tree)) watched = std::move(*located);
    co_return taken;
  };
  auto done = co_await store::transact(occasion, decide);
  if (done && watched) announce_removed(tree, watched->way, *watched->found.entry);
  co_return done;
}

}  // namespace kyanite::tree
