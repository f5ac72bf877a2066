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

// Marks the directory, unless somebody else has already.
Task<store::Result<void>> mark(Call& call, Found& found) {
  if (found.entry->deleting) co_return store::Result<void>();
  Entry entry = *found.entry;
  entry.deleting = true;
  auto marked = service::to_record(entry);
  store::Commit commit;
  commit.guards.push_back(found.guard());
  commit.writes.push_back({found.key, marked});
  auto done = co_await call.store().commit(std::move(commit));
  found.record = std::move(marked);
  co_return done;
}

Task<store::Result<void>> remove(Call& call, const Tree& tree, const Way& way,
                                 const Found& directory) {
  TreeCommit commit(call.store(), tree.space(), call.deadline);
  auto done = co_await commit.begin();
  if (done) done = co_await commit.replace(way, &directory, nullptr);
  if (!done) co_return done.error();
  co_return co_await commit.finish();
}

}  // namespace

Outcome delete_directory(Call& call) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  if (path->empty()) co_return wire::Error(Code::kInvalidOperation);
  service::Tries tries(call);
  while (tries.another()) {
    auto way = co_await follow(call, *tree, *path);
    if (!way) co_return way.error();
    const auto key = entry_key(tree->space(), way->parent(), way->folded);
    auto turn = co_await call.context.locks.lock(key.bytes());
    auto found = co_await find_entry(call, *tree, *way);
    if (!found) co_return found.error();
    if (!*found || !(*found)->entry->directory) co_return wire::Error(Code::kResourceNotFound);
    auto admission = co_await open_files(call).admit(file_key(*tree, (*found)->entry->id),
                                                     concurrency::FileOperation::kDeleteFile);
    if (!admission) co_return admission.error();
    // A full directory is refused without being written to.
    auto empty = co_await is_empty(call, *tree, (*found)->entry->id);
    if (!empty) co_return empty.error();
    if (!*empty) co_return wire::Error(Code::kDirectoryNotEmpty);
    auto done = co_await mark(call, **found);
    if (done) {
      empty = co_await is_empty(call, *tree, (*found)->entry->id);
      if (!empty) co_return empty.error();
      if (!*empty) co_return wire::Error(Code::kDirectoryNotEmpty);
      done = co_await remove(call, *tree, *way, **found);
    }
    if (done) co_return http::Reply(202);
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return tries.error();
}

}  // namespace kyanite::file
