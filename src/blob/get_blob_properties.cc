// Get Blob Properties: HEAD /{container}/{blob}
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "wire/date.h"
#include "wire/version.h"

namespace kyanite::blob {

Outcome get_blob_properties(service::Call& call) {
  auto found = co_await read_blob(call, concurrency::kAcceptsAll, KeyUse::kNeeds);
  if (!found) co_return found.error();
  const Blob& blob = *found->blob;
  http::Reply reply(200);
  reply.stream_length = blob.content.length;
  encode_properties(reply, call, *found);
  if (!blob.http.content_md5.empty()) reply.header("Content-MD5", base64(blob.http.content_md5));
  if (blob.type == BlobType::kBlock || blob.tier != Tier::kInferred) {
    reply.header("x-ms-access-tier", name(blob.tier));
    if (blob.tier == Tier::kInferred) {
      reply.header("x-ms-access-tier-inferred", "true");
    } else {
      reply.header("x-ms-access-tier-change-time", wire::http_date(blob.tier_changed));
    }
  }
  if (blob.rehydrate_to != Tier::kInferred) {
    reply.header("x-ms-archive-status",
                 "rehydrate-pending-to-" + ascii_lower(name(blob.rehydrate_to)));
    if (call.version >= wire::kRehydratePriority)
      reply.header("x-ms-rehydrate-priority", blob.rehydrate_priority);
  }
  co_return reply;
}

}  // namespace kyanite::blob
