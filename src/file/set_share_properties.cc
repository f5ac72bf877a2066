// Set Share Properties: PUT /{share}?restype=share&comp=properties
#include "file/handlers.h"
#include "file/share.h"
#include "file/share_properties.h"

namespace kyanite::file {

Outcome set_share_properties(service::Call& call) {
  auto edit = [&](Share& share) { return decode_share_changes(call, share.properties); };
  co_return co_await update_share(call, edit);
}

}  // namespace kyanite::file
