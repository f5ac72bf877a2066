// Set Share Metadata: PUT /{share}?restype=share&comp=metadata
#include "concurrency/etag.h"
#include "file/handlers.h"
#include "file/share.h"
#include "headers/changed.h"

namespace kyanite::file {

Outcome set_share_metadata(service::Call& call) {
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  auto edit = [&](Share& share) -> wire::Result<http::Reply> {
    share.properties.metadata = *metadata;
    share.changed = concurrency::next_modified(call.now, share.changed);
    http::Reply reply(200);
    headers::encode_changed(reply, share.changed);
    return reply;
  };
  co_return co_await update_share(call, edit);
}

}  // namespace kyanite::file
