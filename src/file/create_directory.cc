// Create Directory: PUT /{share}/{path}?restype=directory
#include "base/random.h"
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
  auto permission = co_await settle_permission(call, tree->space(), PermissionUse::kCreate);
  if (!permission) co_return permission.error();
  auto make = [&](const Way& way, const Found* before, TreeCommit&) -> wire::Result<Creation> {
    if (before != nullptr) return wire::Error(Code::kResourceAlreadyExists);
    Creation creation;
    creation.entry = new_entry(call, *order, way.name, true);
    creation.entry.smb.permission_key = *permission;
    creation.reply = changed_reply(call, 201, creation.entry, way.parent());
    return creation;
  };
  co_return co_await create_entry(call, *tree, *path, make);
}

}  // namespace kyanite::file
