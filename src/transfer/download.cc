#include "transfer/download.h"

#include "base/bytes.h"
#include "service/deadline.h"
#include "service/storage.h"
#include "transfer/content_stream.h"
#include "transfer/hashes.h"
#include "wire/crc64.h"
#include "wire/structured.h"

namespace kyanite::transfer {

using wire::Code;

namespace {

// Of which a hash may be asked for.
constexpr uint64_t kMaxHashedRange = 4 * 1024 * 1024;

std::string_view hash_header(RangeHash hash) {
  return hash == RangeHash::kCrc64 ? "x-ms-range-get-content-crc64" : "x-ms-range-get-content-md5";
}

// What the reader reads, to its end, is read only for its hash: it goes before the bytes, which
// many requests together could not keep in memory.
Task<store::Result<void>> encode_range_hash(const service::Call& call, content::Reader& reader,
                                            RangeHash hash, http::Reply& reply) {
  Hashes hashes(hash == RangeHash::kMd5);
  while (true) {
    auto bytes = co_await reader.next(false);
    if (!bytes) co_return bytes.error();
    if (os::size_of(*bytes) == 0) break;
    co_await hashes.update(call.context.workers, std::get<Buffer>(*bytes).view());
  }
  if (hash == RangeHash::kCrc64) {
    reply.header("x-ms-content-crc64", wire::crc64_text(hashes.crc64()));
  } else {
    reply.header("Content-MD5", base64(hashes.md5()));
  }
  co_return store::Result<void>();
}

std::string content_range(headers::Span span, uint64_t length) {
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

}  // namespace

wire::Result<Download> decode_download(const service::Call& call) {
  Download wanted;
  wanted.range = headers::decode_read_range(call);
  const auto form = call.headers().find(wire::kStructuredBody);
  if (form && !wire::is_structured_form(*form))
    return wire::invalid_header(wire::kStructuredBody, *form);
  wanted.structured = form.has_value();
  const auto wants = [&](std::string_view header) {
    return equals_ignoring_case(call.headers().get(header), "true");
  };
  const bool md5 = wants(hash_header(RangeHash::kMd5));
  const bool crc64 = wants(hash_header(RangeHash::kCrc64));
  if (!md5 && !crc64) return wanted;
  if (md5 && crc64) return wire::Error(Code::kBothCrc64AndMd5RangeHeaderPresent);
  wanted.hash = md5 ? RangeHash::kMd5 : RangeHash::kCrc64;
  if (!wanted.range) return wire::invalid_header(hash_header(wanted.hash), "true");
  wanted.structured = false;
  return wanted;
}

Task<wire::Result<void>> attach_content(service::Call& call, http::Reply& reply,
                                        const Download& wanted, const content::Place& place,
                                        const content::Content& content, const store::Guard& head,
                                        content::CipherPtr cipher) {
  headers::Span span{0, content.length};
  if (wanted.range) {
    const auto clipped = headers::clip(*wanted.range, content.length);
    if (!clipped) co_return beyond_the_end(content.length);
    span = *clipped;
  }
  if (wanted.hash != RangeHash::kNone && span.count > kMaxHashedRange) {
    co_return wire::invalid_header(hash_header(wanted.hash), "true");
  }
  const auto open = [&] {
    return content::Reader::open(call.store(), place, content, span.offset, span.count, head,
                                 cipher);
  };
  if (wanted.hash != RangeHash::kNone) {
    auto reader = co_await open();
    if (!reader) co_return service::storage_error(reader.error());
    auto hashed = co_await encode_range_hash(call, **reader, wanted.hash, reply);
    if (!hashed) co_return service::storage_error(hashed.error());
  }
  auto reader = co_await open();
  if (!reader) co_return service::storage_error(reader.error());
  reply.status = wanted.range ? 206 : 200;
  if (wanted.range) reply.header("Content-Range", content_range(span, content.length));
  if (wanted.structured) {
    reply.header(wire::kStructuredBody, wire::kStructuredForm);
    reply.header(wire::kStructuredContentLength, span.count);
    set_structured_body(reply, call, std::move(*reader), span.count);
  } else if (auto whole = (*reader)->whole()) {
    reply.body = http::Reply::Shared{std::move(whole->owner), whole->bytes};
  } else if (span.count > 0) {
    reply.stream_length = span.count;
    reply.body = std::make_unique<ContentStream>(std::move(*reader), call.hold,
                                                 service::download_deadline(call, span.count));
  }
  co_return wire::Result<void>();
}

}  // namespace kyanite::transfer
