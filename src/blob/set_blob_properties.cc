// Set Blob Properties: PUT /{container}/{blob}?comp=properties
//
// Naming any of the content headers sets them all: those absent are cleared.
#include "blob/blob.h"
#include "blob/handlers.h"
#include "concurrency/etag.h"

namespace kyanite::blob {

Outcome set_blob_properties(service::Call& call) {
  auto properties = decode_http_properties(call);
  if (!properties) co_return properties.error();
  auto checks = decode_checks(call, kChanges);
  if (!checks) co_return checks.error();
  auto edit = [&](std::optional<Blob>& blob, store::SpaceId,
                  store::Commit&) -> wire::Result<http::Reply> {
    blob->http = *properties;
    blob->changed = concurrency::next_modified(call.now, blob->changed);
    concurrency::on_write(blob->lease, call.now);
    http::Reply reply(200);
    encode_changed(reply, blob->changed);
    return reply;
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
