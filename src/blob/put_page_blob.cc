// Put Blob: PUT /{container}/{blob} with x-ms-blob-type: PageBlob
#include "blob/blob.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "blob/pages.h"

namespace kyanite::blob {

Outcome put_page_blob(service::Call& call) {
  auto size = decode_page_blob_size(call);
  if (!size) co_return size.error();
  auto sequence_number = decode_sequence_number(call);
  if (!sequence_number) co_return sequence_number.error();
  auto fresh = decode_new_blob(call, BlobType::kPage);
  if (!fresh) co_return fresh.error();
  fill_from_standard_headers(call, fresh->http);
  if (call.request.body->length().value_or(0) != 0)
    co_return wire::Error(wire::Code::kInvalidInput);
  auto checks = decode_checks(call, kCreates);
  if (!checks) co_return checks.error();
  auto edit = [&](std::optional<Blob>& blob, store::SpaceId space,
                  store::Commit& commit) -> Outcome {
    if (auto allowed = check_overwrite(call, blob, BlobType::kPage); !allowed)
      co_return allowed.error();
    if (auto dropped = co_await drop_blocks(call, space, commit); !dropped)
      co_return dropped.error();
    blob = make_blob(call, BlobType::kPage, *fresh, blob);
    blob->content.sparse = true;
    blob->content.length = *size;
    blob->sequence_number = sequence_number->value_or(0);
    blob->key_sha256 = key_sha256(checks->key);
    http::Reply reply(201);
    encode_state(reply, *blob);
    encode_encrypted(reply, checks->key);
    co_return reply;
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
