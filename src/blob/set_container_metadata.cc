// Set Container Metadata: PUT /{container}?restype=container&comp=metadata
#include "blob/container.h"
#include "blob/handlers.h"
#include "concurrency/etag.h"

namespace kyanite::blob {

Outcome set_container_metadata(service::Call& call) {
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  auto edit = [&](Container& container) -> wire::Result<http::Reply> {
    container.metadata = *metadata;
    container.changed = concurrency::next_modified(call.now, container.changed);
    http::Reply reply(200);
    encode_changed(reply, container.changed);
    return reply;
  };
  co_return co_await update_container(call, concurrency::kAcceptsModifiedSince, edit);
}

}  // namespace kyanite::blob
