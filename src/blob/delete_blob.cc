// Delete Blob: DELETE /{container}/{blob}
#include "blob/blob.h"
#include "blob/handlers.h"

namespace kyanite::blob {

Outcome delete_blob(service::Call& call) {
  auto checks = decode_checks(call, kChanges);
  if (!checks) co_return checks.error();
  auto edit = [](std::optional<Blob>& blob, store::SpaceId,
                 store::Commit&) -> wire::Result<http::Reply> {
    blob.reset();
    http::Reply reply(202);
    reply.header("x-ms-delete-type-permanent", "true");
    return reply;
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
