#include "blob/copy_source.h"

#include "base/bytes.h"
#include "blob/handlers.h"
#include "blob/hashes.h"
#include "blob/new_blob.h"
#include "blob/tags.h"
#include "service/admission.h"
#include "service/operation.h"
#include "service/service.h"
#include "wire/version.h"

namespace kyanite::blob {

using auth::Caller;
using concurrency::Condition;
using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kSourceHeader = "x-ms-copy-source";
constexpr std::string_view kSourceAuthorization = "x-ms-copy-source-authorization";
constexpr std::string_view kSourceIfTags = "x-ms-source-if-tags";
constexpr size_t kMaxUrlBytes = 8 * 1024;

constexpr service::ConditionHeaders kSourceConditions{
    "x-ms-source-if-match", "x-ms-source-if-none-match", "x-ms-source-if-modified-since",
    "x-ms-source-if-unmodified-since", kSourceIfTags};

// The URL without the signature, so that whoever may read the copy does not get a key to its
// source.
std::string without_signature(std::string_view url) {
  const size_t mark = url.find('?');
  if (mark == std::string_view::npos) return std::string(url);
  std::string shown(url.substr(0, mark));
  std::string_view query = url.substr(mark + 1);
  char separator = '?';
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view parameter = query.substr(0, end);
    if (!equals_ignoring_case(parameter.substr(0, 4), "sig=")) {
      shown += separator;
      shown += parameter;
      separator = '&';
    }
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
  }
  return shown;
}

wire::Result<http::Url> decode_source_url(const Call& call) {
  const auto text = call.headers().find(kSourceHeader);
  if (!text) return wire::missing_header(kSourceHeader);
  auto url = text->size() <= kMaxUrlBytes ? http::parse_url(*text) : std::nullopt;
  if (!url) return wire::invalid_header(kSourceHeader, *text);
  return std::move(*url);
}

// Copy Blob within one account needs no credentials for the source when the caller has those of the
// account. The other operations always do.
bool is_trusted(const Call& outer, const Call& source, CopyFamily family) {
  return family == CopyFamily::kCopyBlob && source.target.account == outer.target.account &&
         (outer.caller.kind == Caller::Kind::kOwner ||
          outer.caller.kind == Caller::Kind::kBearer) &&
         !source.query.has("sig") && !source.headers().has("Authorization");
}

Task<wire::Result<Found>> find_source(const Call& outer, Call& source, CopyFamily family,
                                      bool& trusted) {
  if (source.service->kind() != wire::Service::kBlob)
    co_return wire::Error(Code::kInvalidSourceUri);
  if (auto resolved = service::resolve(source); !resolved) co_return resolved.error();
  auto operation = service::route(source.service->operations(), source.request, source.query,
                                  source.target.level);
  if (!operation) co_return operation.error();
  // Nothing else: reading the tags of a blob, say, takes another permission than reading its bytes.
  if ((*operation)->run != get_blob) co_return wire::Error(Code::kInvalidSourceUri);
  source.operation = *operation;
  trusted = is_trusted(outer, source, family);
  if (trusted) {
    source.caller = outer.caller;
  } else if (auto known = service::authenticate(source); !known) {
    co_return known.error();
  }
  if (auto allowed = co_await service::authorize(source); !allowed) co_return allowed.error();
  auto found = co_await find_blob(source);
  if (!found) co_return found.error();
  auto key = family == CopyFamily::kCopyBlob ? wire::Result<MaybeKey>(MaybeKey())
                                             : decode_customer_key(outer, kSourceKey);
  if (!key) co_return key.error();
  if (auto fits = check_key(found->blob->key_sha256, *key); !fits) co_return fits.error();
  found->key = std::move(*key);
  if (found->blob->copy.status == CopyStatus::kPending)
    co_return wire::Error(Code::kPendingCopyOperation);
  // Copy Blob may bring an archived blob back.
  if (found->blob->tier == Tier::kArchive && family != CopyFamily::kCopyBlob)
    co_return wire::Error(Code::kBlobArchived);
  co_return std::move(*found);
}

wire::Result<void> check_source_conditions(const Call& call, CopyFamily family, const Blob& blob) {
  auto asked = service::decode_conditions(call, concurrency::Operation::kRead,
                                          concurrency::kAcceptsAll, kSourceConditions);
  if (!asked) return asked.error();
  concurrency::Target target;
  target.exists = true;
  target.changed = blob.changed;
  if (asked->conditions.if_tags) {
    const auto expression = call.headers().get(kSourceIfTags);
    if (auto valid = check_tag_condition(expression); !valid) return valid.error();
    target.tags_match = tag_condition_holds(expression, blob.tags);
  }
  const auto decision =
      concurrency::evaluate(asked->operation, asked->accepts, asked->conditions, target);
  if (!decision.proceeds()) return source_condition_error(family, decision);
  return {};
}

// What the other server is told: the conditions, under their usual names, and the range.
http::Fetcher::Lines foreign_headers(const Call& call, const std::optional<ByteRange>& range) {
  http::Fetcher::Lines lines;
  const service::ConditionHeaders usual;
  const std::pair<std::string_view, std::string_view> names[] = {
      {kSourceConditions.if_match, usual.if_match},
      {kSourceConditions.if_none_match, usual.if_none_match},
      {kSourceConditions.if_modified_since, usual.if_modified_since},
      {kSourceConditions.if_unmodified_since, usual.if_unmodified_since},
      {kSourceConditions.if_tags, usual.if_tags}};
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
      return wire::Error(Code::kServerBusy);
  }
  CHECK(false);
}

// A reply of another server that is no success, as if a blob of this server had given it.
wire::Error foreign_refusal(CopyFamily family, int status) {
  switch (status) {
    case 304:
      return source_error(family, wire::Error(Code::kConditionNotMet, 304));
    case 401:
      return source_error(family, wire::Error(Code::kNoAuthenticationInformation, 401));
    case 403:
      return source_error(family, Code::kAuthorizationFailure);
    case 404:
      return source_error(family, Code::kResourceNotFound);
    case 412:
      return family == CopyFamily::kCopyBlob ? wire::Error(Code::kSourceConditionNotMet)
                                             : source_error(family, Code::kConditionNotMet);
    case 416:
      return source_error(family, Code::kInvalidRange);
    default:
      // What the client can do nothing about is worth another try later.
      return wire::Error(Code::kCannotVerifyCopySource,
                         status >= 400 && status < 500 ? status : 500);
  }
}

Task<wire::Result<Source>> open_foreign(Call& call, const http::Url& url, CopyFamily family,
                                        const std::optional<ByteRange>& range) {
  if (call.context.fetcher == nullptr) {
    co_return wire::Error(Code::kCannotVerifyCopySource, 403)
        .saying("This server does not copy from other servers.");
  }
  http::Fetcher::Lines credentials;
  const auto authorization = call.headers().find(kSourceAuthorization);
  if (authorization && family != CopyFamily::kCopyBlob) {
    credentials.emplace_back("Authorization", *authorization);
    credentials.emplace_back("x-ms-version", call.version_text);
  }
  const KeyHeaders usual;
  const std::pair<std::string_view, std::string_view> key_headers[] = {
      {kSourceKey.key, usual.key},
      {kSourceKey.sha256, usual.sha256},
      {kSourceKey.algorithm, usual.algorithm}};
  for (const auto& [source, name] : key_headers) {
    if (const auto value = call.headers().find(source)) credentials.emplace_back(name, *value);
  }
  auto fetched =
      co_await call.context.fetcher->get(url, foreign_headers(call, range), std::move(credentials));
  if (!fetched) co_return fetch_error(fetched.error());
  const int status = (*fetched)->status();
  if (status != 200 && status != 206) co_return foreign_refusal(family, status);
  Source source;
  source.full_url = url;
  source.url = without_signature(call.headers().get(kSourceHeader));
  source.fetched = std::move(*fetched);
  co_return std::move(source);
}

}  // namespace

HttpProperties foreign_properties(const http::Headers& headers) {
  HttpProperties http;
  http.content_type = headers.get("Content-Type");
  http.content_encoding = headers.get("Content-Encoding");
  http.content_language = headers.get("Content-Language");
  http.content_disposition = headers.get("Content-Disposition");
  http.cache_control = headers.get("Cache-Control");
  if (auto md5 = unbase64(headers.get("Content-MD5")); md5 && md5->size() == 16)
    http.content_md5 = std::move(*md5);
  return http;
}

namespace {

// Pieces of a part of a content as a content of their own: from offset 0 on and without gaps.
content::Pieces end_to_end(content::Pieces pieces, const Span& span) {
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

// Pieces and hashes of a part of a local source; nothing when the source was changed meanwhile. The
// pieces are shared where source and copy have the same key or none, else written anew.
Task<wire::Result<std::optional<Uploaded>>> share(Call& call, const Source& source,
                                                  const Span& span, const MaybeKey& key,
                                                  Hashes& hashes) {
  const Blob& blob = *source.found.blob;
  const bool same_key = blob.key_sha256 == key_sha256(key);
  const auto failed = [](store::Error error) -> wire::Result<std::optional<Uploaded>> {
    if (error == store::Error::kConflict) return std::optional<Uploaded>();
    return service::storage_error(error);
  };
  Uploaded uploaded;
  uploaded.length = span.count;
  if (same_key) {
    auto pieces = co_await content::load(call.store(), source.place(), blob.content, span.offset,
                                         span.count, source.head());
    if (!pieces) co_return failed(pieces.error());
    uploaded.pieces = end_to_end(std::move(*pieces), span);
  }
  auto reader =
      co_await content::Reader::open(call.store(), source.place(), blob.content, span.offset,
                                     span.count, source.head(), cipher_of(source.found.key));
  if (!reader) co_return failed(reader.error());
  content::Writer writer(call.store(), cipher_of(key));
  for (uint64_t left = span.count; left > 0;) {
    auto bytes = co_await (*reader)->next(false);
    if (!bytes) co_return service::storage_error(bytes.error());
    Buffer& chunk = std::get<Buffer>(*bytes);
    left -= chunk.size();
    co_await hashes.update(call.context.workers, chunk.view());
    if (same_key) continue;
    if (auto added = co_await writer.add(std::move(chunk)); !added)
      co_return service::storage_error(added.error());
  }
  if (!same_key) {
    auto pieces = co_await writer.finish();
    if (!pieces) co_return service::storage_error(pieces.error());
    uploaded.pieces = std::move(*pieces);
  }
  uploaded.md5 = hashes.md5();
  uploaded.crc64 = hashes.crc64();
  co_return std::optional<Uploaded>(std::move(uploaded));
}

// Receives and stores what another server sends. A server that ignores ranges sends the whole.
Task<wire::Result<Uploaded>> receive(Call& call, http::Fetched& from, const Wanted& wanted,
                                     Hashes& hashes) {
  uint64_t skip = wanted.range && from.status() == 200 ? wanted.range->first : 0;
  const uint64_t end = wanted.range && wanted.range->last
                           ? *wanted.range->last - wanted.range->first + 1
                           : UINT64_MAX;
  content::Writer writer(call.store(), cipher_of(wanted.key));
  Uploaded uploaded;
  while (uploaded.length < end) {
    auto chunk = co_await from.next();
    if (!chunk) co_return fetch_error(chunk.error());
    if (chunk->empty()) break;
    std::string_view bytes = chunk->view();
    const auto skipped = static_cast<size_t>(std::min<uint64_t>(skip, bytes.size()));
    bytes.remove_prefix(skipped);
    skip -= skipped;
    bytes = bytes.substr(
        0, static_cast<size_t>(std::min<uint64_t>(bytes.size(), end - uploaded.length)));
    if (bytes.empty()) continue;
    uploaded.length += bytes.size();
    if (uploaded.length > wanted.most) co_return wire::Error(Code::kRequestBodyTooLarge);
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

// One attempt; nothing when the source was changed while it was read.
Task<wire::Result<std::optional<Taken>>> try_take(Call& call, CopyFamily family,
                                                  const Wanted& wanted, const Claims& claims) {
  auto source = co_await open_source(call, family, wanted.range);
  if (!source) co_return source.error();
  Hashes hashes(wanted.md5 == Md5::kAlways || !claims.md5.empty() ||
                call.version < wire::kCrc64Replies);
  Taken taken;
  taken.url = source->url;
  if (source->is_local()) {
    const Blob& blob = *source->found.blob;
    const Caller& reader = source->call->call().caller;
    if (wanted.tags && reader.is_sas() && !reader.permissions.has('t'))
      co_return source_error(family, Code::kAuthorizationPermissionMismatch);
    Span span{0, blob.content.length};
    if (wanted.range) {
      const auto clipped = clip(*wanted.range, blob.content.length);
      if (!clipped) co_return source_error(family, Code::kInvalidRange);
      span = *clipped;
    }
    if (span.count > wanted.most) co_return wire::Error(Code::kRequestBodyTooLarge);
    auto shared = co_await share(call, *source, span, wanted.key, hashes);
    if (!shared) co_return shared.error();
    if (!*shared) co_return std::optional<Taken>();
    taken.uploaded = std::move(**shared);
    taken.type = blob.type;
    taken.http = blob.http;
    taken.metadata = blob.metadata;
    taken.tags = blob.tags;
  } else {
    http::Fetched& from = *source->fetched;
    auto received = co_await receive(call, from, wanted, hashes);
    if (!received) co_return received.error();
    taken.uploaded = std::move(*received);
    taken.http = foreign_properties(from.headers());
    if (auto metadata = service::decode_metadata(from.headers()))
      taken.metadata = std::move(*metadata);
  }
  auto truthful = check_claims(claims, taken.uploaded.md5, taken.uploaded.crc64);
  if (!truthful) co_return truthful.error();
  co_return std::optional<Taken>(std::move(taken));
}

}  // namespace

wire::Error source_error(CopyFamily family, const wire::Error& own) {
  wire::Error error(Code::kCannotVerifyCopySource, own.status);
  if (family != CopyFamily::kPart) error.saying(own.message);
  return error;
}

wire::Error source_condition_error(CopyFamily family, const concurrency::Decision& unmet) {
  if (unmet.unmet == Condition::kIfTags) return Code::kConditionNotMet;
  if (family == CopyFamily::kCopyBlob) return Code::kSourceConditionNotMet;
  if (family == CopyFamily::kWhole && unmet.unmet == Condition::kIfMatch)
    return Code::kSourceConditionNotMet;
  const int status = unmet.verdict == concurrency::Verdict::kNotModified ? 304 : 412;
  return source_error(family, wire::Error(Code::kConditionNotMet, status));
}

SourceCall::SourceCall(const Call& outer, const http::Url& url, const service::Service& service)
    : path_(url.path), query_(url.query), host_(url.authority()), call_(request_, outer.context) {
  request_.method = "GET";
  request_.target = path_;
  request_.path = path_;
  request_.query = query_;
  request_.peer = outer.request.peer;
  request_.secure = url.secure;
  request_.headers.add("Host", host_);
  request_.headers.add("x-ms-version", outer.version_text);
  if (const auto authorization = outer.headers().find(kSourceAuthorization))
    request_.headers.add("Authorization", *authorization);
  call_.service = &service;
  call_.target.service = service.kind();
  call_.hold = outer.hold;
  call_.now = outer.now;
  call_.request_id = outer.request_id;
  call_.version_text = outer.version_text;
  call_.version = outer.version;
}

store::Guard Source::head() const {
  return {head_key(call->call(), found.space, found.row), found.record};
}

Task<wire::Result<Source>> open_source(Call& call, CopyFamily family,
                                       const std::optional<ByteRange>& range) {
  auto url = decode_source_url(call);
  if (!url) co_return url.error();
  const auto* service = call.context.endpoints.find(*url, *call.service, call.headers().get("Host"),
                                                    call.request.secure, call.context.accounts);
  if (service == nullptr) co_return co_await open_foreign(call, *url, family, range);
  Source source;
  source.full_url = *url;
  source.url = without_signature(call.headers().get(kSourceHeader));
  source.call = std::make_unique<SourceCall>(call, *url, *service);
  bool trusted = false;
  auto found = co_await find_source(call, source.call->call(), family, trusted);
  // Whoever may read the source anyway is told what is wrong with it in its own words, unless there
  // is none.
  if (!found) {
    const bool own_words = trusted && found.error().status != 404;
    co_return own_words ? found.error() : source_error(family, found.error());
  }
  source.found = std::move(*found);
  if (auto met = check_source_conditions(call, family, *source.found.blob); !met)
    co_return met.error();
  co_return std::move(source);
}

Task<wire::Result<Taken>> take_source(Call& call, CopyFamily family, const Wanted& wanted) {
  auto claims = decode_claims(call, kSourceClaims);
  if (!claims) co_return claims.error();
  for (int tries = 0; tries < service::kMaxTries; ++tries) {
    auto taken = co_await try_take(call, family, wanted, *claims);
    if (!taken) co_return taken.error();
    if (*taken) co_return std::move(**taken);
  }
  co_return wire::Error(Code::kServerBusy);
}

wire::Result<bool> decode_copies_tags(const Call& call) {
  constexpr std::string_view kHeader = "x-ms-copy-source-tag-option";
  const auto text = call.headers().get(kHeader);
  if (text.empty() || equals_ignoring_case(text, "REPLACE")) return false;
  if (!equals_ignoring_case(text, "COPY")) return wire::invalid_header(kHeader, text);
  if (call.headers().has("x-ms-tags"))
    return wire::invalid_header("x-ms-tags", call.headers().get("x-ms-tags"));
  return true;
}

Task<wire::Result<Destination>> check_destination(Call& call, const Checks& checks) {
  auto early = co_await check_before_body(call, checks);
  if (early) co_return Destination();
  const Code code = early.error().code;
  if (code == Code::kConditionNotMet || code == Code::kBlobAlreadyExists)
    co_return Destination{early.error()};
  co_return early.error();
}

}  // namespace kyanite::blob
