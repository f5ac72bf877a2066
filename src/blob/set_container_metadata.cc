// Set Container Metadata: PUT /{container}?restype=container&comp=metadata
#include "blob/container.h"
#include "blob/handlers.h"

namespace kyanite::blob {

Outcome set_container_metadata(service::Call& call) {
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  auto edit = [&](Container& container) { container.metadata = *metadata; };
  auto changed = co_await update_container(call, concurrency::kAcceptsModifiedSince, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  encode_changed(reply, *changed);
  co_return reply;
}

}  // namespace kyanite::blob
