// Set Share Properties: PUT /{share}?restype=share&comp=properties
#include "concurrency/etag.h"
#include "file/handlers.h"
#include "file/share.h"
#include "file/share_properties.h"
#include "headers/changed.h"

namespace kyanite::file {

Outcome set_share_properties(service::Call& call) {
  auto edit = [&](Share& share) -> wire::Result<http::Reply> {
    if (auto changed = decode_share_changes(call, share.properties); !changed)
      return changed.error();
    share.changed = concurrency::next_modified(call.now, share.changed);
    http::Reply reply(200);
    headers::encode_changed(reply, share.changed);
    return reply;
  };
  co_return co_await update_share(call, edit);
}

}  // namespace kyanite::file
