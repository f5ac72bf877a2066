#include "blob/copy_source.h"

#include "auth/authorize.h"
#include "base/bytes.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "blob/tags.h"
#include "service/operation.h"
#include "service/service.h"
#include "transfer/hashes.h"
#include "transfer/source_object.h"
#include "wire/version.h"

namespace kyanite::blob {

using auth::Caller;
using concurrency::Condition;
using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kSourceIfTags = "x-ms-source-if-tags";

constexpr headers::ConditionHeaders kSourceConditions{
    "x-ms-source-if-match", "x-ms-source-if-none-match", "x-ms-source-if-modified-since",
    "x-ms-source-if-unmodified-since", kSourceIfTags};

// Copy Blob within one account needs no credentials for the source when the caller has those of the
// account. The other operations always do.
bool is_trusted(const Call& outer, const Call& source, CopyFamily family) {
  return is_asynchronous(family) && source.target.account == outer.target.account &&
         (outer.caller.kind == Caller::Kind::kOwner ||
          outer.caller.kind == Caller::Kind::kBearer) &&
         !source.query.has("sig") && !source.headers().has("Authorization");
}

// A file, as the block blob that its copy will be.
Task<wire::Result<void>> find_file(Call& file, const std::optional<ByteRange>& range,
                                   Source& source) {
  auto object = co_await transfer::find_source(file, range);
  if (!object) co_return object.error();
  auto blob = std::make_shared<Blob>();
  blob->changed = object->changed;
  blob->content = object->content;
  blob->http = std::move(object->http);
  blob->metadata = std::move(object->metadata);
  source.found = {
      Place(object->space, std::string_view()), {}, object->head.expected, std::move(blob), {}};
  source.partition = std::move(object->partition);
  source.guard = std::move(object->head);
  co_return wire::Result<void>();
}

Task<wire::Result<void>> find_source(const Call& outer, Source& source, CopyFamily family,
                                     const std::optional<ByteRange>& range, bool& trusted) {
  Call& call = source.call->call();
  if (auto resolved = transfer::resolve_source(call); !resolved) co_return resolved.error();
  trusted = is_trusted(outer, call, family);
  if (auto admitted = co_await transfer::authorize_source(outer, call, trusted); !admitted)
    co_return admitted.error();
  if (call.service->kind() == wire::Service::kFile)
    co_return co_await find_file(call, range, source);
  if (call.service->kind() != wire::Service::kBlob) co_return wire::Error(Code::kInvalidSourceUri);
  auto found = co_await find_source_blob(call);
  if (!found) co_return found.error();
  auto key = is_asynchronous(family) ? wire::Result<MaybeKey>(MaybeKey())
                                     : decode_customer_key(outer, kSourceKey);
  if (!key) co_return key.error();
  if (auto fits = check_key(found->blob->key_sha256, *key); !fits) co_return fits.error();
  found->key = std::move(*key);
  // Copy Blob may bring an archived blob back.
  if (found->blob->tier == Tier::kArchive && !is_asynchronous(family))
    co_return wire::Error(Code::kBlobArchived);
  source.found = std::move(*found);
  source.partition = source.found.place.own();
  source.guard = {head_key(source.found.place, source.found.row), source.found.record};
  co_return wire::Result<void>();
}

wire::Result<void> check_source_conditions(const Call& call, CopyFamily family,
                                           const Caller& reader, const Blob& blob) {
  auto asked = headers::decode_conditions(call, concurrency::Operation::kRead,
                                          concurrency::kAcceptsAll, kSourceConditions);
  if (!asked) return asked.error();
  concurrency::Target target;
  target.exists = true;
  target.changed = blob.changed;
  if (asked->conditions.if_tags) {
    if (auto allowed = auth::authorize_tags(reader); !allowed)
      return source_error(family, allowed.error());
    const auto expression = call.headers().get(kSourceIfTags);
    if (auto valid = check_tag_condition(expression); !valid) return valid.error();
    target.tags_match = tag_condition_holds(expression, blob.tags);
  }
  const auto decision =
      concurrency::evaluate(asked->operation, asked->accepts, asked->conditions, target);
  if (!decision.proceeds()) return source_condition_error(family, decision);
  return {};
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
      return is_asynchronous(family) ? wire::Error(Code::kSourceConditionNotMet)
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
  http::Fetcher::Lines key_lines;
  const KeyHeaders usual;
  const std::pair<std::string_view, std::string_view> key_headers[] = {
      {kSourceKey.key, usual.key},
      {kSourceKey.sha256, usual.sha256},
      {kSourceKey.algorithm, usual.algorithm}};
  for (const auto& [source, name] : key_headers) {
    if (const auto value = call.headers().find(source)) key_lines.emplace_back(name, *value);
  }
  auto fetched = co_await transfer::fetch_source(call, url, range, kSourceConditions,
                                                 !is_asynchronous(family), std::move(key_lines));
  if (!fetched) co_return fetched.error();
  const int status = (*fetched)->status();
  if (status != 200 && status != 206) co_return foreign_refusal(family, status);
  Source source;
  source.full_url = url;
  source.url = transfer::without_signature(call.headers().get("x-ms-copy-source"));
  source.fetched = std::move(*fetched);
  co_return std::move(source);
}

// One attempt; nothing when the source was changed while it was read.
Task<wire::Result<Taken>> try_take(Call& call, CopyFamily family, const Wanted& wanted,
                                   const transfer::HashClaims& claims) {
  auto source = co_await open_source(call, family, wanted.range);
  if (!source) co_return source.error();
  transfer::Hashes hashes(wanted.md5 == Md5::kAlways || !claims.md5.empty() ||
                          call.version < wire::kCrc64Replies);
  Taken taken;
  taken.url = source->url;
  if (source->is_local()) {
    const Blob& blob = *source->found.blob;
    const auto allowed = auth::authorize_tags(source->call->call().caller);
    if (wanted.tags && !allowed) co_return source_error(family, allowed.error());
    Span span{0, blob.content.length};
    if (wanted.range) {
      const auto clipped = clip(*wanted.range, blob.content.length);
      if (!clipped) co_return source_error(family, Code::kInvalidRange);
      span = *clipped;
    }
    if (span.count > wanted.most) co_return wire::Error(Code::kRequestBodyTooLarge);
    const transfer::SourceCiphers ciphers{cipher_of(source->found.key), cipher_of(wanted.key),
                                          blob.key_sha256 == key_sha256(wanted.key)};
    auto shared = co_await transfer::share_source(call, source->place(), blob.content,
                                                  source->head(), span, hashes, ciphers);
    if (!shared) co_return shared.error();
    taken.uploaded = std::move(*shared);
    taken.type = blob.type;
    taken.http = blob.http;
    taken.metadata = blob.metadata;
    taken.tags = blob.tags;
  } else {
    http::Fetched& from = *source->fetched;
    auto received = co_await transfer::receive_source(call, from, wanted.range, wanted.most, hashes,
                                                      cipher_of(wanted.key));
    if (!received) co_return received.error();
    taken.uploaded = std::move(*received);
    taken.http = headers::foreign_properties(from.headers());
    if (auto metadata = headers::decode_metadata(from.headers()))
      taken.metadata = std::move(*metadata);
  }
  auto truthful = check_claims(claims, taken.uploaded.md5, taken.uploaded.crc64);
  if (!truthful) {
    // Here as elsewhere parts are told less: not what was computed.
    if (family == CopyFamily::kPart) truthful.error().details.clear();
    co_return truthful.error();
  }
  co_return std::move(taken);
}

}  // namespace

Task<wire::Result<FoundBlob>> find_source_blob(Call& source) {
  // Nothing else: reading the tags of a blob, say, takes another permission than reading its bytes.
  if (source.operation->run != get_blob) co_return wire::Error(Code::kInvalidSourceUri);
  auto found = co_await find_blob(source);
  if (!found) co_return found.error();
  if (found->blob->copy.status == CopyStatus::kPending)
    co_return wire::Error(Code::kPendingCopyOperation);
  co_return std::move(*found);
}

wire::Error source_error(CopyFamily family, const wire::Error& own) {
  wire::Error error(Code::kCannotVerifyCopySource, own.status);
  if (family != CopyFamily::kPart) error.saying(own.message);
  return error;
}

wire::Error source_condition_error(CopyFamily family, const concurrency::Decision& unmet) {
  if (unmet.unmet == Condition::kIfTags) return Code::kConditionNotMet;
  if (is_asynchronous(family)) return Code::kSourceConditionNotMet;
  if (family == CopyFamily::kWhole && unmet.unmet == Condition::kIfMatch)
    return Code::kSourceConditionNotMet;
  const int status = unmet.verdict == concurrency::Verdict::kNotModified ? 304 : 412;
  return source_error(family, wire::Error(Code::kConditionNotMet, status));
}

Task<wire::Result<Source>> open_source(Call& call, CopyFamily family,
                                       const std::optional<ByteRange>& range) {
  auto url = transfer::decode_source_url(call);
  if (!url) co_return url.error();
  const auto* service = call.context.endpoints.find(*url, *call.service, call.headers().get("Host"),
                                                    call.request.secure, call.context.accounts);
  if (service == nullptr) co_return co_await open_foreign(call, *url, family, range);
  Source source;
  source.full_url = *url;
  source.url = transfer::without_signature(call.headers().get("x-ms-copy-source"));
  source.call = std::make_unique<transfer::SourceCall>(call, *url, *service);
  bool trusted = false;
  auto found = co_await find_source(call, source, family, range, trusted);
  // Whoever may read the source anyway is told what is wrong with it in its own words. That there
  // is none only Copy Blob tells so, of its own account.
  if (!found) {
    const bool missing = found.error().status == 404;
    const bool own_account = source.call->call().target.account == call.target.account;
    if (missing && own_account && family == CopyFamily::kCopyBlob)
      co_return wire::Error(Code::kBlobNotFound);
    co_return trusted && !missing ? found.error() : source_error(family, found.error());
  }
  const Caller& reader = source.call->call().caller;
  if (auto met = check_source_conditions(call, family, reader, *source.found.blob); !met)
    co_return met.error();
  co_return std::move(source);
}

Task<wire::Result<Taken>> take_source(Call& call, CopyFamily family, const Wanted& wanted) {
  auto claims = decode_claims(call, transfer::kSourceClaims);
  if (!claims) co_return claims.error();
  auto take = [&] { return try_take(call, family, wanted, *claims); };
  co_return co_await service::answer_whole(call, take);
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

Task<wire::Result<Taken>> take_upload(Call& call, const Checks& checks, CopyFamily family,
                                      const Wanted& wanted) {
  auto destination = co_await check_destination(call, checks);
  if (!destination) co_return destination.error();
  auto taken = co_await take_source(call, family, wanted);
  if (taken && destination->postponed) co_return *destination->postponed;
  co_return std::move(taken);
}

}  // namespace kyanite::blob
