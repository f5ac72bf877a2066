#include "blob/blob.h"

#include "base/bytes.h"
#include "concurrency/etag.h"
#include "wire/date.h"
#include "wire/version.h"

namespace kyanite::blob {

using concurrency::LeaseUse;
using service::Call;
using wire::Code;

store::Key head_key(const Call& call, store::SpaceId space) {
  return store::Key(space, kHeads, call.target.object);
}

wire::Result<Checks> decode_checks(const Call& call, const Rules& rules) {
  Checks checks{rules, {}, {}};
  auto lease_id = service::decode_lease_id(call);
  if (!lease_id) return lease_id.error();
  checks.lease_id = std::move(*lease_id);
  auto asked = service::decode_conditions(call, rules.operation, rules.accepts);
  if (!asked) return asked.error();
  checks.asked = std::move(*asked);
  return checks;
}

wire::Result<void> check_blob(const Call& call, const Checks& checks,
                              const std::optional<Blob>& blob) {
  if (!blob && checks.rules.operation != concurrency::Operation::kCreate)
    return wire::Error(Code::kBlobNotFound);
  const service::StoredLease lease = blob ? blob->lease : service::StoredLease();
  if (auto use = concurrency::check_lease_use(lease, checks.lease_id, checks.rules.use, call.now);
      !use) {
    return service::lease_use_error(use.error(), service::Leased::kBlob);
  }
  concurrency::Target target;
  target.exists = blob.has_value();
  if (blob) target.changed = blob->changed;
  target.lease_held = checks.lease_id.has_value();
  return service::check_conditions(checks.asked, target);
}

Task<wire::Result<Found>> read_blob(Call& call, concurrency::ConditionSet accepts) {
  auto checks = decode_checks(call, {LeaseUse::kShared, service::read_operation(call), accepts});
  if (!checks) co_return checks.error();
  auto container = co_await load_container(call);
  if (!container) co_return container.error();
  auto loaded = co_await service::load<Blob>(call, head_key(call, container->space));
  if (!loaded) co_return loaded.error();
  if (auto passed = check_blob(call, *checks, loaded->value); !passed) co_return passed.error();
  co_return Found{container->space, std::move(*loaded->value)};
}

Task<wire::Result<void>> drop_replaced_content(Call& call, store::SpaceId space,
                                               const std::optional<Blob>& before,
                                               const std::optional<Blob>& after,
                                               store::Commit& commit) {
  if (!before || (after && after->content.id == before->content.id)) co_return {};
  auto removed =
      co_await content::remove(call.store(), commit, space, call.target.object, before->content);
  if (!removed) co_return service::storage_error(removed.error());
  co_return {};
}

namespace {
void encode_optional(http::Reply& reply, std::string_view header, const std::string& stored,
                     const std::string& override_value) {
  const std::string& value = override_value.empty() ? stored : override_value;
  if (!value.empty()) reply.header(header, value);
}
}  // namespace

void encode_properties(http::Reply& reply, const Call& call, const Blob& blob) {
  encode_changed(reply, blob.changed);
  const auto& overrides = call.caller.overrides;
  encode_optional(reply, "Content-Type", blob.http.content_type, overrides.content_type);
  encode_optional(reply, "Content-Encoding", blob.http.content_encoding,
                  overrides.content_encoding);
  encode_optional(reply, "Content-Language", blob.http.content_language,
                  overrides.content_language);
  encode_optional(reply, "Content-Disposition", blob.http.content_disposition,
                  overrides.content_disposition);
  encode_optional(reply, "Cache-Control", blob.http.cache_control, overrides.cache_control);
  reply.header("Accept-Ranges", "bytes");
  reply.header("x-ms-blob-type", name(blob.type));
  reply.header("x-ms-creation-time", wire::http_date(blob.created));
  service::encode_lease(reply, blob.lease, call.now);
  reply.header("x-ms-server-encrypted", "true");
  service::encode_metadata(reply, blob.metadata);
}

wire::Result<std::string> decode_md5(const Call& call, std::string_view header) {
  const auto text = call.headers().find(header);
  if (!text || text->empty()) return std::string();
  auto digest = unbase64(*text);
  if (!digest || digest->size() != 16) return wire::Error(Code::kInvalidMd5);
  return *digest;
}

wire::Result<HttpProperties> decode_http_properties(const Call& call) {
  HttpProperties properties;
  const auto& headers = call.headers();
  properties.content_type = headers.get("x-ms-blob-content-type");
  properties.content_encoding = headers.get("x-ms-blob-content-encoding");
  properties.content_language = headers.get("x-ms-blob-content-language");
  properties.content_disposition = headers.get("x-ms-blob-content-disposition");
  properties.cache_control = headers.get("x-ms-blob-cache-control");
  auto md5 = decode_md5(call, "x-ms-blob-content-md5");
  if (!md5) return md5.error();
  properties.content_md5 = std::move(*md5);
  return properties;
}

}  // namespace kyanite::blob
