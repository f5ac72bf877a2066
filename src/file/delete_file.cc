// Delete File: DELETE /{share}/{path}
#include "file/entry.h"
#include "file/handlers.h"
#include "headers/conditions.h"

namespace kyanite::file {

using service::Call;

Outcome delete_file(Call& call) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  OpenFiles::Admission admission;  // Until the change is durable.
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    admission = {};
    auto located = co_await locate_for_change(call, *tree, *path, Kind::kFile, attempt);
    if (!located) co_return located.error();
    auto admitted =
        co_await open_files(call).admit(located->key(), concurrency::FileOperation::kDeleteFile);
    if (!admitted) co_return admitted.error();
    admission = std::move(*admitted);
    const Rules rules{Kind::kFile, concurrency::FileOperation::kDeleteFile};
    const Entry& file = *located->found.entry;
    if (auto passed = check_entry(call, rules, *lease_id, &file); !passed) co_return passed.error();
    TreeCommit commit(attempt, tree->space());
    auto done = co_await commit.begin();
    if (done) done = co_await commit.replace(located->way, &located->found, nullptr);
    if (!done) co_return service::storage_error(done.error());
    co_return wire::Result<void>();
  };
  if (auto deleted = co_await store::transact(call, decide); !deleted) co_return deleted.error();
  co_return http::Reply(202);
}

}  // namespace kyanite::file
