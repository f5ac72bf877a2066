// Put Block From URL: PUT /{container}/{blob}?comp=block&blockid={id} with x-ms-copy-source
#include "blob/copy_source.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "blob/put_block.h"

namespace kyanite::blob {

using service::Call;

Outcome put_block_from_url(Call& call) {
  auto id = decode_block_id(call);
  if (!id) co_return id.error();
  auto range = headers::decode_source_range(call);
  if (!range) co_return range.error();
  auto checks = decode_checks(call, kStages);
  if (!checks) co_return checks.error();
  const Wanted wanted{.range = *range, .most = max_block_bytes(call.version), .key = checks->key};
  auto taken = co_await take_upload(call, *checks, CopyFamily::kWhole, wanted);
  if (!taken) co_return taken.error();
  if (taken->uploaded.length == 0)
    co_return wire::invalid_header("x-ms-source-range", call.headers().get("x-ms-source-range"));
  if (auto staged = co_await stage_block(call, *checks, *id, taken->uploaded.pieces); !staged)
    co_return staged.error();
  http::Reply reply(201);
  encode_hash(reply, taken->uploaded);
  encode_encrypted(reply, checks->key);
  co_return reply;
}

}  // namespace kyanite::blob
