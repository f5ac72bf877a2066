// Create Directory: PUT /{share}/{path}?restype=directory
#include "file/create.h"
#include "file/entry.h"
#include "file/permissions.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

Outcome create_directory(Call& call) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto order = decode_creation(call);
  if (!order) co_return order.error();
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  if (path->empty()) co_return wire::Error(Code::kResourceAlreadyExists);
  auto permission = co_await settle_permission(call, tree->space, PermissionUse::kCreate);
  if (!permission) co_return permission.error();
  const Fill fill = [&](Entry& directory, const Way&, store::Commit&) -> Task<wire::Result<void>> {
    apply_creation(call, *order, directory);
    directory.smb.permission_key = *permission;
    co_return wire::Result<void>();
  };
  tree::Creation creation;
  creation.directory = true;
  auto created = co_await create_entry(call, *tree, *path, creation, fill);
  if (!created) co_return created.error();
  co_return changed_reply(call, 201, *created);
}

}  // namespace kyanite::file
