// Set Blob Tags: PUT /{container}/{blob}?comp=tags, also on a version. ETag and Last-Modified stay.
#include "blob/blob.h"
#include "blob/change_head.h"
#include "blob/handlers.h"
#include "blob/tags.h"
#include "transfer/body.h"

namespace kyanite::blob {

namespace {
constexpr Rules kTagWrites{.use = concurrency::LeaseUse::kExclusive,
                           .operation = concurrency::Operation::kUpdate,
                           .accepts = concurrency::kAcceptsTags,
                           .changes_data = false,
                           .own_conditions = true};
}

Outcome set_blob_tags(service::Call& call) {
  auto checks = decode_checks(call, kTagWrites);
  if (!checks) co_return checks.error();
  auto body = co_await transfer::read_body(call, transfer::kMaxXmlBody);
  if (!body) co_return body.error();
  auto tags = parse_tags(*body);
  if (!tags) co_return tags.error();
  auto edit = [&](Blob& blob) -> wire::Result<void> {
    blob.tags = *tags;
    return {};
  };
  auto changed = co_await change_head(call, *checks, edit);
  if (!changed) co_return changed.error();
  co_return http::Reply(204);
}

}  // namespace kyanite::blob
