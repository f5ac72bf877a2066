// Copy File from another server.
#include "file/copy.h"
#include "file/permissions.h"
#include "file/ranges.h"
#include "service/conditions.h"

namespace kyanite::file {

using service::Call;

Outcome copy_foreign(Call& call, const CopyOrder& order, const Tree& tree, const Path& path,
                     Source& source) {
  auto permission = co_await settle_permission(call, tree.space(), PermissionUse::kCreate);
  if (!permission) co_return permission.error();
  service::Hashes hashes(false);
  auto received =
      co_await service::receive_source(call, *source.fetched, {}, kMaxFileBytes, hashes);
  if (!received) co_return received.error();
  auto make = [&](const Way& way, const Found* before,
                  TreeCommit& commit) -> Task<wire::Result<Creation>> {
    auto creation = make_copy(call, order, way, before);
    if (!creation) co_return creation.error();
    Entry& copy = creation->entry;
    copy.http = service::foreign_properties(source.fetched->headers());
    copy.smb.permission_key = *permission;
    copy.content.sparse = true;
    copy.content.length = received->length;
    if (received->length > 0) {
      auto written =
          co_await content::overwrite(call.store(), commit.commit(), content_place(tree),
                                      copy.content, 0, received->length, received->pieces);
      if (!written) co_return service::storage_error(written.error());
    }
    copy.copy.source = source.url;
    copy.copy.status = service::CopyStatus::kSuccess;
    copy.copy.copied = copy.copy.total = received->length;
    copy.copy.completed = call.now;
    creation->reply = copy_reply(copy);
    co_return std::move(*creation);
  };
  co_return co_await create_entry(call, tree, path, make);
}

}  // namespace kyanite::file
