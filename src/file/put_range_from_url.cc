// Put Range From URL: PUT /{share}/{path}?comp=range with x-ms-copy-source
#include "base/bytes.h"
#include "file/handlers.h"
#include "file/ranges.h"
#include "file/source.h"
#include "wire/crc64.h"

namespace kyanite::file {

using service::Call;
using transfer::Uploaded;
using wire::Code;

namespace {

// The conditions that Put Range From URL has, on the hash of the source's range.
wire::Result<void> check_crc64_conditions(const Call& call, uint64_t crc64) {
  const std::string actual = wire::crc64_text(crc64);
  const auto match = call.headers().find("x-ms-source-if-match-crc64");
  const auto none_match = call.headers().find("x-ms-source-if-none-match-crc64");
  if ((match && *match != actual) || (none_match && *none_match == actual))
    return wire::Error(Code::kConditionNotMet);
  return {};
}

// One attempt; a conflict when the source was changed while it was read.
Task<wire::Result<Uploaded>> try_take(Call& call, const headers::ByteRange& range,
                                      const transfer::HashClaims& claims) {
  auto source = co_await open_source(call, SourceTrust::kNone, range);
  if (!source) co_return source.error();
  transfer::Hashes hashes(!claims.md5.empty());
  if (!source->is_local()) {
    auto received =
        co_await transfer::receive_source(call, *source->fetched, range, kMaxRangeWrite, hashes);
    if (!received) co_return received.error();
    co_return std::move(*received);
  }
  const auto& object = source->object;
  const auto span = headers::clip(range, object.content.length);
  if (!span) co_return source_error(Code::kInvalidRange);
  const auto place = object.place();
  co_return co_await transfer::share_source(call, place, object.content, object.head, *span,
                                            hashes);
}

}  // namespace

Outcome put_range_from_url(Call& call) {
  auto range = decode_write_range(call);
  if (!range) co_return range.error();
  if (range->count > kMaxRangeWrite) co_return wire::Error(Code::kRequestBodyTooLarge);
  auto from = headers::decode_source_range(call);
  if (!from) co_return from.error();
  if (!*from) co_return wire::missing_header("x-ms-source-range");
  if (!(*from)->last || *(*from)->last - (*from)->first + 1 != range->count)
    co_return wire::invalid_header("x-ms-source-range", call.headers().get("x-ms-source-range"));
  auto claims = transfer::decode_claims(call, transfer::kSourceClaims);
  if (!claims) co_return claims.error();
  auto take = [&] { return try_take(call, **from, *claims); };
  auto taken = co_await service::answer_whole(call, take);
  if (!taken) co_return taken.error();
  auto truthful = transfer::check_claims(*claims, taken->md5, taken->crc64);
  if (!truthful) co_return truthful.error();
  if (auto met = check_crc64_conditions(call, taken->crc64); !met) co_return met.error();
  if (taken->length != range->count) {
    co_return wire::Error(Code::kCannotVerifyCopySource, 409)
        .saying(
            "The source request body for copy source does not match requested length to "
            "write on target.");
  }
  co_return co_await write_range(call, *range, &*taken);
}

}  // namespace kyanite::file
