// Put Blob: PUT /{container}/{blob} with x-ms-blob-type: AppendBlob
#include "blob/blob.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"

namespace kyanite::blob {

Outcome put_append_blob(service::Call& call) {
  auto fresh = decode_new_blob(call, BlobType::kAppend);
  if (!fresh) co_return fresh.error();
  if (auto filled = fill_from_standard_headers(call, fresh->http); !filled)
    co_return filled.error();
  if (call.request.body->length().value_or(0) != 0)
    co_return wire::Error(wire::Code::kInvalidInput);
  auto checks = decode_checks(call, kCreates);
  if (!checks) co_return checks.error();
  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    auto replaced = co_await replace_blob(call, change, BlobType::kAppend, *fresh);
    if (!replaced) co_return replaced.error();
    change.blob->key_sha256 = key_sha256(checks->key);
    co_return wire::Result<void>();
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(201);
  encode_state(reply, *changed);
  encode_encrypted(reply, checks->key);
  co_return reply;
}

}  // namespace kyanite::blob
