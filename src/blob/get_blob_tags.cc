// Get Blob Tags: GET /{container}/{blob}?comp=tags, also of a snapshot or version
#include "blob/blob.h"
#include "blob/handlers.h"
#include "blob/tags.h"

namespace kyanite::blob {

Outcome get_blob_tags(service::Call& call) {
  auto found = co_await read_blob(call, concurrency::kAcceptsTags, KeyUse::kIgnores, true);
  if (!found) co_return found.error();
  wire::XmlWriter xml;
  write_tags(xml, found->blob->tags);
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::blob
