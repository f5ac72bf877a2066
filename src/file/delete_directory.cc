// Delete Directory: DELETE /{share}/{path}?restype=directory
#include "file/entry.h"
#include "file/handlers.h"
#include "file/refusals.h"

namespace kyanite::file {

Outcome delete_directory(service::Call& call) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  auto deleted = co_await tree::delete_directory(call, *tree, *path);
  if (!deleted) co_return refusal(deleted.error());
  co_return http::Reply(202);
}

}  // namespace kyanite::file
