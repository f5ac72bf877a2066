// Delete Directory: DELETE /{share}/{path}?restype=directory
//
// Only an empty directory can be deleted, and emptiness is no record that a commit could guard. So
// the directory is marked first; whoever puts something into it withdraws the mark by the same
// commit. If it is found empty while the mark stands, the second commit takes it away.
#include "file/entry.h"
#include "file/handlers.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

Task<wire::Result<bool>> is_empty(Call& call, const Tree& tree, EntryId directory) {
  bool empty = false;
  const auto range =
      store::Range::rows(tree.space(), kEntries, kSharePartition, entry_row(directory, {}));
  auto looked = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    empty = !cursor->valid();
    return cursor->status();
  });
  if (!looked) co_return service::storage_error(looked.error());
  co_return empty;
}

// Marks the directory, unless somebody else has already: a commit of its own.
Task<wire::Result<void>> mark(Call& call, Found& found) {
  if (found.entry->deleting) co_return wire::Result<void>();
  Entry entry = *found.entry;
  entry.deleting = true;
  auto marked = service::to_record(entry);
  store::Commit commit;
  commit.expect(found.key, found.record);
  commit.put(found.key, marked);
  auto done = co_await call.store().commit(std::move(commit));
  if (!done) co_return service::storage_error(done.error());
  found.record = std::move(marked);
  co_return wire::Result<void>();
}

Task<wire::Result<void>> require_empty(Call& call, const Tree& tree, EntryId directory) {
  auto empty = co_await is_empty(call, tree, directory);
  if (!empty) co_return empty.error();
  if (!*empty) co_return wire::Error(Code::kDirectoryNotEmpty);
  co_return wire::Result<void>();
}

}  // namespace

Outcome delete_directory(Call& call) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  if (path->empty()) co_return wire::Error(Code::kInvalidOperation);
  OpenFiles::Admission admission;  // Until the change is durable.
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    admission = {};
    auto located = co_await locate_for_change(call, *tree, *path, Kind::kDirectory, attempt);
    if (!located) co_return located.error();
    Found& directory = located->found;
    const EntryId id = directory.entry->id;
    auto admitted =
        co_await open_files(call).admit(located->key(), concurrency::FileOperation::kDeleteFile);
    if (!admitted) co_return admitted.error();
    admission = std::move(*admitted);
    // A full directory is refused without being written to.
    if (auto empty = co_await require_empty(call, *tree, id); !empty) co_return empty.error();
    if (auto marked = co_await mark(call, directory); !marked) co_return marked.error();
    if (auto empty = co_await require_empty(call, *tree, id); !empty) co_return empty.error();
    TreeCommit commit(attempt, tree->space());
    auto done = co_await commit.begin();
    if (done) done = co_await commit.replace(located->way, &directory, nullptr);
    if (!done) co_return service::storage_error(done.error());
    co_return wire::Result<void>();
  };
  if (auto deleted = co_await store::transact(call, decide); !deleted) co_return deleted.error();
  co_return http::Reply(202);
}

}  // namespace kyanite::file
