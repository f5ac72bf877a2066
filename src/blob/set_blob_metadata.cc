// Set Blob Metadata: PUT /{container}/{blob}?comp=metadata
#include "blob/blob.h"
#include "blob/handlers.h"
#include "concurrency/etag.h"

namespace kyanite::blob {

Outcome set_blob_metadata(service::Call& call) {
  auto metadata = service::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  auto checks = decode_checks(call, kChanges);
  if (!checks) co_return checks.error();
  auto edit = [&](std::optional<Blob>& blob, store::SpaceId,
                  store::Commit&) -> wire::Result<http::Reply> {
    blob->metadata = *metadata;
    blob->changed = concurrency::next_modified(call.now, blob->changed);
    concurrency::on_write(blob->lease, call.now);
    http::Reply reply(200);
    encode_changed(reply, blob->changed);
    reply.header("x-ms-request-server-encrypted", "true");
    return reply;
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
