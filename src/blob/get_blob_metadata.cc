// Get Blob Metadata: GET or HEAD /{container}/{blob}?comp=metadata
#include "blob/blob.h"
#include "blob/handlers.h"
#include "blob/node_headers.h"

namespace kyanite::blob {

Outcome get_blob_metadata(service::Call& call) {
  auto found = co_await read_blob(call, concurrency::kAcceptsAll, KeyUse::kNeeds);
  if (!found) co_return found.error();
  http::Reply reply(200);
  encode_changed(reply, found->blob->changed);
  encode_folder_mark(reply, *found->blob);
  headers::encode_metadata(reply, found->blob->metadata);
  co_return reply;
}

}  // namespace kyanite::blob
