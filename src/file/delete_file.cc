// Delete File: DELETE /{share}/{path}
#include "file/entry.h"
#include "file/handlers.h"
#include "file/refusals.h"
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
  auto deleted = co_await tree::delete_file(call, *tree, *path, *lease_id);
  if (!deleted) co_return refusal(deleted.error());
  co_return http::Reply(202);
}

}  // namespace kyanite::file
