// Delete File: DELETE /{share}/{path}
#include "file/entry.h"
#include "file/handlers.h"
#include "service/conditions.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

Outcome delete_file(Call& call) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto lease_id = service::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  service::Tries tries(call);
  while (tries.another()) {
    auto way = co_await follow(call, *tree, *path);
    if (!way) co_return way.error();
    const auto key = entry_key(tree->space(), way->parent(), way->folded);
    auto turn = co_await call.context.locks.lock(key.bytes());
    auto found = co_await find_entry(call, *tree, *way);
    if (!found) co_return found.error();
    if (!*found || (*found)->entry->directory) co_return wire::Error(Code::kResourceNotFound);
    const Entry& file = *(*found)->entry;
    auto admission = co_await open_files(call).admit(file_key(*tree, file.id),
                                                     concurrency::FileOperation::kDeleteFile);
    if (!admission) co_return admission.error();
    const Rules rules{Kind::kFile, concurrency::FileOperation::kDeleteFile};
    if (auto passed = check_entry(call, rules, *lease_id, &file); !passed) co_return passed.error();
    TreeCommit commit(call.store(), tree->space(), call.deadline);
    if (auto begun = co_await commit.begin(); !begun)
      co_return service::storage_error(begun.error());
    auto done = co_await commit.replace(*way, &**found, nullptr);
    if (done) done = co_await commit.finish();
    if (done) co_return http::Reply(202);
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return tries.error();
}

}  // namespace kyanite::file
