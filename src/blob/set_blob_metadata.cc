// Set Blob Metadata: PUT /{container}/{blob}?comp=metadata
#include "blob/blob.h"
#include "blob/handlers.h"

namespace kyanite::blob {

Outcome set_blob_metadata(service::Call& call) {
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  Rules rules = kWrites;
  rules.keep = Keep::kVersion;
  auto checks = decode_checks(call, rules);
  if (!checks) co_return checks.error();
  auto edit = [&](std::optional<Blob>& blob, store::SpaceId,
                  store::Commit&) -> wire::Result<http::Reply> {
    blob->metadata = *metadata;
    touch_new_version(call, *blob);
    http::Reply reply(200);
    encode_state(reply, *blob);
    encode_encrypted(reply, checks->key);
    return reply;
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
