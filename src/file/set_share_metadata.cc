// Set Share Metadata: PUT /{share}?restype=share&comp=metadata
#include "file/handlers.h"
#include "file/share.h"

namespace kyanite::file {

Outcome set_share_metadata(service::Call& call) {
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  auto edit = [&](Share& share) -> wire::Result<void> {
    share.properties.metadata = *metadata;
    return {};
  };
  co_return co_await update_share(call, edit);
}

}  // namespace kyanite::file
