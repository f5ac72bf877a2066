// Append Block From URL: PUT /{container}/{blob}?comp=appendblock with x-ms-copy-source
#include "blob/append_block.h"
#include "blob/copy_source.h"
#include "blob/handlers.h"

namespace kyanite::blob {

using service::Call;

Outcome append_block_from_url(Call& call) {
  auto range = headers::decode_source_range(call);
  if (!range) co_return range.error();
  auto checks = decode_checks(call, kWrites);
  if (!checks) co_return checks.error();
  const Wanted wanted{.range = *range, .most = max_append_bytes(call.version), .key = checks->key};
  auto taken = co_await take_upload(call, *checks, CopyFamily::kPart, wanted);
  if (!taken) co_return taken.error();
  if (taken->uploaded.length == 0)
    co_return wire::invalid_header("x-ms-source-range", call.headers().get("x-ms-source-range"));
  co_return co_await append_uploaded(call, *checks, taken->uploaded);
}

}  // namespace kyanite::blob
