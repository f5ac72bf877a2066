// Get Blob: GET /{container}/{blob}
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/blob_stream.h"
#include "blob/handlers.h"
#include "blob/range.h"
#include "service/body.h"
#include "wire/crc64.h"
#include "wire/structured.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

// Ranges whose hash is asked for are read into memory, hence the limit.
constexpr uint64_t kMaxHashedRange = 4 * 1024 * 1024;

enum class RangeHash { kNone, kMd5, kCrc64 };

wire::Result<RangeHash> decode_range_hash(const Call& call, bool has_range) {
  const auto wants = [&](std::string_view header) {
    return equals_ignoring_case(call.headers().get(header), "true");
  };
  const bool md5 = wants("x-ms-range-get-content-md5");
  const bool crc64 = wants("x-ms-range-get-content-crc64");
  if (!md5 && !crc64) return RangeHash::kNone;
  if (md5 && crc64) return wire::Error(Code::kInvalidInput);
  const std::string_view header =
      md5 ? "x-ms-range-get-content-md5" : "x-ms-range-get-content-crc64";
  if (!has_range) return wire::invalid_header(header, "true");
  return md5 ? RangeHash::kMd5 : RangeHash::kCrc64;
}

wire::Result<bool> decode_structured(const Call& call) {
  const auto form = call.headers().find(wire::kStructuredBody);
  if (form && !wire::is_structured_form(*form))
    return wire::invalid_header(wire::kStructuredBody, *form);
  return form.has_value();
}

// What of the blob is asked for, and in which form.
struct Wanted {
  std::optional<ByteRange> range;
  RangeHash hash = RangeHash::kNone;
  bool structured = false;
};

Task<store::Result<std::string>> read_whole(content::Reader& reader, uint64_t length) {
  std::string out;
  out.reserve(length);
  while (out.size() < length) {
    auto bytes = co_await reader.next(false);
    if (!bytes) co_return bytes.error();
    out.append(std::get<Buffer>(*bytes).view());
  }
  co_return out;
}

void encode_range_hash(http::Reply& reply, RangeHash hash, std::string_view bytes) {
  if (hash == RangeHash::kCrc64) {
    reply.header("x-ms-content-crc64", wire::crc64_text(wire::crc64(0, bytes)));
    return;
  }
  reply.header("Content-MD5", base64(service::md5(bytes)));
}

std::string content_range(Span span, uint64_t length) {
  std::string text = "bytes ";
  append_uint(text, span.offset);
  text += '-';
  append_uint(text, span.offset + span.count - 1);
  text += '/';
  append_uint(text, length);
  return text;
}

wire::Error beyond_the_end(uint64_t length) {
  wire::Error error(Code::kInvalidRange);
  std::string range = "bytes */";
  append_uint(range, length);
  error.headers.emplace_back("Content-Range", range);
  return error;
}

// One attempt; kConflict inside means that the blob was replaced between its head and its content
// being read.
Task<wire::Result<std::optional<http::Reply>>> try_get_blob(Call& call, const Wanted& wanted) {
  const auto& [range, hash, structured] = wanted;
  auto found = co_await read_blob(call, concurrency::kAcceptsAll, KeyUse::kNeeds);
  if (!found) co_return found.error();
  const Blob& blob = *found->blob;
  if (blob.tier == Tier::kArchive) co_return wire::Error(Code::kBlobArchived);
  Span span{0, blob.content.length};
  if (range) {
    const auto clipped = clip(*range, blob.content.length);
    if (!clipped) co_return beyond_the_end(blob.content.length);
    span = *clipped;
  }
  if (hash != RangeHash::kNone && span.count > kMaxHashedRange) {
    co_return wire::invalid_header("x-ms-range-get-content-md5", "true");
  }
  const content::Place place{found->space, call.target.object};
  const store::Guard head{head_key(call, found->space, found->row), found->record};
  auto reader = co_await content::Reader::open(call.store(), place, blob.content, span.offset,
                                               span.count, head, cipher_of(found->key));
  if (!reader) {
    if (reader.error() == store::Error::kConflict) co_return std::optional<http::Reply>();
    co_return service::storage_error(reader.error());
  }

  http::Reply reply(range ? 206 : 200);
  reply.head.reserve(1024);
  encode_properties(reply, call, *found);
  if (range) reply.header("Content-Range", content_range(span, blob.content.length));
  if (!blob.http.content_md5.empty()) {
    reply.header(range ? "x-ms-blob-content-md5" : "Content-MD5", base64(blob.http.content_md5));
  }
  if (hash != RangeHash::kNone) {
    auto bytes = co_await read_whole(**reader, span.count);
    if (!bytes) co_return service::storage_error(bytes.error());
    encode_range_hash(reply, hash, *bytes);
    reply.body = std::move(*bytes);
  } else if (structured) {
    reply.header(wire::kStructuredBody, wire::kStructuredForm);
    reply.header(wire::kStructuredContentLength, span.count);
    set_structured_body(reply, call, std::move(*reader), span.count);
  } else if (auto whole = (*reader)->whole()) {
    reply.body = http::Reply::Shared{std::move(whole->owner), whole->bytes};
  } else if (span.count > 0) {
    reply.stream_length = span.count;
    reply.body = std::make_unique<BlobStream>(std::move(*reader), call.hold);
  }
  co_return std::optional<http::Reply>(std::move(reply));
}

}  // namespace

Outcome get_blob(Call& call) {
  auto range = decode_range(call);
  if (!range) co_return range.error();
  auto hash = decode_range_hash(call, range->has_value());
  if (!hash) co_return hash.error();
  auto structured = decode_structured(call);
  if (!structured) co_return structured.error();
  const Wanted wanted{*range, *hash, *structured && *hash == RangeHash::kNone};
  for (int tries = 0; tries < service::kMaxTries; ++tries) {
    auto reply = co_await try_get_blob(call, wanted);
    if (!reply) co_return reply.error();
    if (*reply) co_return std::move(**reply);
  }
  co_return wire::Error(Code::kServerBusy);
}

}  // namespace kyanite::blob
