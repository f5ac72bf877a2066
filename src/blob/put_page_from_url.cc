// Put Page From URL: PUT /{container}/{blob}?comp=page with x-ms-copy-source
#include "blob/copy_source.h"
#include "blob/handlers.h"
#include "blob/pages.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {
constexpr Rules kCopiesPages{.use = concurrency::LeaseUse::kExclusive,
                             .operation = concurrency::Operation::kUpdate,
                             .accepts = concurrency::kAcceptsAll,
                             .if_match_foreign = Code::kTargetConditionNotMet,
                             .key = KeyUse::kNeeds};
}

Outcome put_page_from_url(Call& call) {
  auto range = decode_page_range(call);
  if (!range) co_return range.error();
  if (range->count > kMaxPageWrite) co_return wire::Error(Code::kRequestBodyTooLarge);
  auto source_range = headers::decode_source_range(call);
  if (!source_range) co_return source_range.error();
  if (!*source_range) co_return wire::missing_header("x-ms-source-range");
  const ByteRange& from = **source_range;
  if (!from.last || *from.last - from.first + 1 != range->count)
    co_return wire::invalid_header("x-ms-source-range", call.headers().get("x-ms-source-range"));
  // Before the source is looked at.
  if (auto sequence = decode_sequence_conditions(call); !sequence) co_return sequence.error();
  auto checks = decode_checks(call, kCopiesPages);
  if (!checks) co_return checks.error();
  const Wanted wanted{.range = from, .most = kMaxPageWrite, .key = checks->key};
  auto taken = co_await take_upload(call, *checks, CopyFamily::kPart, wanted);
  if (!taken) co_return taken.error();
  if (taken->uploaded.length != range->count)
    co_return source_error(CopyFamily::kPart, Code::kInvalidRange);
  co_return co_await write_pages(call, *checks, *range, &taken->uploaded);
}

}  // namespace kyanite::blob
