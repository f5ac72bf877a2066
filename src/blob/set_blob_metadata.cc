// Set Blob Metadata: PUT /{container}/{blob}?comp=metadata
#include "blob/blob.h"
#include "blob/handlers.h"
#include "blob/node_headers.h"

namespace kyanite::blob {

Outcome set_blob_metadata(service::Call& call) {
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  Rules rules = kWrites;
  rules.keep = Keep::kVersion;
  rules.takes_directories = true;
  auto checks = decode_checks(call, rules);
  if (!checks) co_return checks.error();
  auto edit = [&](Change& change) -> wire::Result<void> {
    change.blob->metadata = *metadata;
    if (change.blob->is_directory()) drop_folder_mark(change.blob->metadata);
    touch_new_version(call, *change.blob);
    return {};
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  encode_state(reply, *changed);
  encode_encrypted(reply, checks->key);
  co_return reply;
}

}  // namespace kyanite::blob
