#include "transfer/copy_source.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "service/deadline.h"
#include "service/gate.h"
#include "service/operation.h"
#include "service/service.h"
#include "service/storage.h"
#include "transfer/body.h"
#include "transfer/source_object.h"
#include "wire/xml.h"

namespace kyanite::transfer {

using wire::Code;

namespace {

constexpr std::string_view kSourceHeader = "x-ms-copy-source";
constexpr std::string_view kSourceAuthorization = "x-ms-copy-source-authorization";
constexpr size_t kMaxUrlBytes = 8 * 1024;

// What the other server is told: the conditions, under their usual names, and the range.
http::Fetcher::Lines foreign_headers(const service::Call& call,
                                     const std::optional<headers::ByteRange>& range,
                                     const headers::ConditionHeaders& conditions) {
  http::Fetcher::Lines lines;
  const headers::ConditionHeaders usual;
  const std::pair<std::string_view, std::string_view> names[] = {
      {conditions.if_match, usual.if_match},
      {conditions.if_none_match, usual.if_none_match},
      {conditions.if_modified_since, usual.if_modified_since},
      {conditions.if_unmodified_since, usual.if_unmodified_since},
      {conditions.if_tags, usual.if_tags}};
  for (const auto& [source, name] : names) {
    if (const auto value = call.headers().find(source)) lines.emplace_back(name, *value);
  }
  if (range) {
    std::string text = "bytes=";
    append_uint(text, range->first);
    text += '-';
    if (range->last) append_uint(text, *range->last);
    lines.emplace_back("Range", std::move(text));
  }
  return lines;
}

wire::Error fetch_error(const http::FetchError& error) {
  const auto told = [&](int status) {
    return wire::Error(Code::kCannotVerifyCopySource, status).saying(error.what);
  };
  switch (error.kind) {
    case http::FetchError::kForbidden:
      return told(403);
    case http::FetchError::kUnknownHost:
      return told(404);
    case http::FetchError::kUnreachable:
    case http::FetchError::kTimeout:
    case http::FetchError::kCutShort:
      return told(500);
    case http::FetchError::kBadReply:
      return told(400);
    case http::FetchError::kBusy:
      return busy_error(error.what);
  }
  CHECK(false);
}

// Pieces of a part of a content as a content of their own: from offset 0 on and without gaps.
content::Pieces end_to_end(content::Pieces pieces, const headers::Span& span) {
  content::Pieces whole;
  uint64_t at = 0;
  const auto fill_up_to = [&](uint64_t offset) {
    while (at < offset) {
      content::Piece zeros;
      zeros.offset = at;
      zeros.length = static_cast<uint32_t>(std::min<uint64_t>(offset - at, UINT32_MAX));
      at = zeros.end();
      whole.push_back(std::move(zeros));
    }
  };
  for (auto& piece : pieces) {
    piece.offset -= span.offset;
    fill_up_to(piece.offset);
    at = piece.end();
    whole.push_back(std::move(piece));
  }
  fill_up_to(span.count);
  return whole;
}

}  // namespace

std::string without_signature(std::string_view url) {
  const size_t mark = url.find('?');
  if (mark == std::string_view::npos) return std::string(url);
  std::string shown(url.substr(0, mark));
  std::string_view query = url.substr(mark + 1);
  char separator = '?';
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view parameter = query.substr(0, end);
    if (!wire::is_signature(parameter)) {
      shown += separator;
      shown += parameter;
      separator = '&';
    }
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
  }
  return shown;
}

wire::Result<http::Url> decode_source_url(const service::Call& call) {
  const auto text = call.headers().find(kSourceHeader);
  if (!text) return wire::missing_header(kSourceHeader);
  // It is shown again, by listings as well.
  const bool can_be = text->size() <= kMaxUrlBytes && wire::xml_can_hold(*text);
  auto url = can_be ? http::parse_url(*text) : std::nullopt;
  if (!url) return wire::invalid_header(kSourceHeader, *text);
  return std::move(*url);
}

SourceCall::SourceCall(const service::Call& outer, const http::Url& url,
                       const service::Service& service)
    : path_(url.path),
      query_(url.query),
      host_(url.authority()),
      call_(service::Call::derived(request_, outer)) {
  request_.method = "GET";
  request_.target = path_;
  request_.path = path_;
  request_.query = query_;
  request_.peer = outer.request.peer;
  // A source of this server is read without a socket: how it is spelled says nothing about how safe
  // its secrets came here.
  request_.secure = url.secure && outer.request.secure;
  request_.headers.add("Host", host_);
  request_.headers.add("x-ms-version", outer.version_text);
  if (const auto authorization = outer.headers().find(kSourceAuthorization))
    request_.headers.add("Authorization", *authorization);
  if (const auto dots = outer.headers().find("x-ms-source-allow-trailing-dot"))
    request_.headers.add("x-ms-allow-trailing-dot", *dots);
  call_.service = &service;
  call_.target.service = service.kind();
}

Task<wire::Result<SourceObject>> find_source(service::Call& call,
                                             const std::optional<headers::ByteRange>& range) {
  const Sources* sources = call.service->sources();
  if (sources == nullptr) co_return wire::Error(wire::Code::kInvalidSourceUri);
  co_return co_await sources->source(call, range);
}

wire::Result<void> resolve_source(service::Call& source) {
  if (auto resolved = service::resolve(source); !resolved) return resolved.error();
  auto operation = service::route(source.service->operations_for(source), source.request,
                                  source.query, source.target.level);
  if (!operation) return operation.error();
  source.operation = *operation;
  return {};
}

Task<wire::Result<void>> authorize_source(const service::Call& outer, service::Call& source,
                                          bool trusted) {
  if (trusted) {
    source.caller = outer.caller;
  } else if (auto known = service::authenticate(source); !known) {
    co_return known.error();
  }
  co_return co_await service::authorize(source);
}

Task<wire::Result<std::unique_ptr<http::Fetched>>> fetch_source(
    service::Call& call, const http::Url& url, const std::optional<headers::ByteRange>& range,
    const headers::ConditionHeaders& conditions, bool with_credentials,
    http::Fetcher::Lines credentials) {
  if (call.context.fetcher == nullptr) {
    co_return wire::Error(Code::kCannotVerifyCopySource, 403)
        .saying("This server does not copy from other servers.");
  }
  const auto authorization = call.headers().find(kSourceAuthorization);
  if (authorization && with_credentials) {
    credentials.emplace_back("Authorization", *authorization);
    credentials.emplace_back("x-ms-version", call.version_text);
  }
  auto fetched = co_await call.context.fetcher->get(url, foreign_headers(call, range, conditions),
                                                    std::move(credentials), call.target.account);
  if (!fetched) co_return fetch_error(fetched.error());
  co_return std::move(*fetched);
}

Task<wire::Result<Uploaded>> share_source(service::Call& call, const content::Place& place,
                                          const content::Content& content, const store::Guard& head,
                                          const headers::Span& span, Hashes& hashes,
                                          const SourceCiphers& ciphers) {
  Uploaded uploaded;
  uploaded.length = span.count;
  if (ciphers.same) {
    auto pieces =
        co_await content::load(call.store(), place, content, span.offset, span.count, head);
    if (!pieces) co_return service::storage_error(pieces.error());
    uploaded.pieces = end_to_end(std::move(*pieces), span);
  }
  auto reader = co_await content::Reader::open(call.store(), place, content, span.offset,
                                               span.count, head, ciphers.from);
  if (!reader) co_return service::storage_error(reader.error());
  service::allow_transfer(call, span.count);
  content::Writer writer(call.store(), ciphers.to);
  for (uint64_t left = span.count; left > 0;) {
    if (call.deadline.over()) co_return wire::Error(Code::kOperationTimedOut);
    if (ciphers.same) {
      auto zeros = (*reader)->skip_zeros();
      if (!zeros) co_return service::storage_error(zeros.error());
      if (*zeros > 0) {
        if (!co_await hashes.update_zeros(call.context.workers, *zeros, call.deadline))
          co_return wire::Error(Code::kOperationTimedOut);
        left -= *zeros;
        continue;
      }
    }
    auto bytes = co_await (*reader)->next(false);
    if (!bytes) co_return service::storage_error(bytes.error());
    Buffer& chunk = std::get<Buffer>(*bytes);
    left -= chunk.size();
    co_await hashes.update(call.context.workers, chunk.view());
    if (ciphers.same) continue;
    if (auto added = co_await writer.add(std::move(chunk)); !added)
      co_return service::storage_error(added.error());
  }
  if (!ciphers.same) {
    auto pieces = co_await writer.finish();
    if (!pieces) co_return service::storage_error(pieces.error());
    uploaded.pieces = std::move(*pieces);
  }
  uploaded.md5 = hashes.md5();
  uploaded.crc64 = hashes.crc64();
  co_return std::move(uploaded);
}

Task<wire::Result<Uploaded>> receive_source(service::Call& call, http::Fetched& from,
                                            const std::optional<headers::ByteRange>& range,
                                            uint64_t most, Hashes& hashes,
                                            content::CipherPtr cipher) {
  uint64_t skip = range && from.status() == 200 ? range->first : 0;
  const uint64_t end = range && range->last ? *range->last - range->first + 1 : UINT64_MAX;
  service::allow_transfer(call, from.length());
  content::Writer writer(call.store(), std::move(cipher));
  Uploaded uploaded;
  while (uploaded.length < end) {
    auto chunk = co_await from.next();
    if (!chunk) co_return fetch_error(chunk.error());
    if (call.deadline.over()) co_return wire::Error(Code::kOperationTimedOut);
    if (chunk->empty()) break;
    std::string_view bytes = chunk->view();
    const auto skipped = static_cast<size_t>(std::min<uint64_t>(skip, bytes.size()));
    bytes.remove_prefix(skipped);
    skip -= skipped;
    bytes = bytes.substr(
        0, static_cast<size_t>(std::min<uint64_t>(bytes.size(), end - uploaded.length)));
    if (bytes.empty()) continue;
    uploaded.length += bytes.size();
    if (uploaded.length > most) co_return wire::Error(Code::kRequestBodyTooLarge);
    co_await hashes.update(call.context.workers, bytes);
    Buffer part = bytes.size() == chunk->size() ? std::move(*chunk) : Buffer::copy_of(bytes);
    auto added = co_await writer.add(std::move(part));
    if (!added) co_return service::storage_error(added.error());
  }
  if (skip > 0) co_return wire::Error(Code::kCannotVerifyCopySource, 416);
  auto pieces = co_await writer.finish();
  if (!pieces) co_return service::storage_error(pieces.error());
  uploaded.pieces = std::move(*pieces);
  uploaded.md5 = hashes.md5();
  uploaded.crc64 = hashes.crc64();
  co_return std::move(uploaded);
}

}  // namespace kyanite::transfer
