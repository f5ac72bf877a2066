// Set Share Properties: PUT /{share}?restype=share&comp=properties
#include "file/handlers.h"
#include "file/share.h"
#include "file/share_properties.h"

namespace kyanite::file {

Outcome set_share_properties(service::Call& call) {
  auto edit = [&](Share& share) { return decode_share_changes(call, share.properties); };
  auto done = co_await update_share(call, edit);
  if (!done) co_return done;
  // For clients that have the share mounted. Those that have not find it with the share.
  if (auto share = co_await load_share(call)) keep_quota(call, **share);
  co_return done;
}

}  // namespace kyanite::file
