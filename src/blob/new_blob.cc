#include "blob/new_blob.h"

#include "auth/authorize.h"
#include "base/bytes.h"
#include "blob/admission.h"
#include "wire/date.h"
#include "wire/version.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

wire::Result<std::optional<Tier>> decode_tier(const Call& call, std::string_view header) {
  const auto text = call.headers().find(header);
  if (!text || text->empty()) return std::optional<Tier>();
  static constexpr struct {
    std::string_view name;
    Tier tier;
  } kTiers[] = {{"Hot", Tier::kHot},
                {"Cool", Tier::kCool},
                {"Cold", Tier::kCold},
                {"Archive", Tier::kArchive}};
  for (const auto& known : kTiers) {
    if (equals_ignoring_case(*text, known.name)) return std::optional<Tier>(known.tier);
  }
  return wire::invalid_header(header, *text);
}

wire::Result<std::string> decode_rehydrate_priority(const Call& call) {
  constexpr std::string_view kHeader = "x-ms-rehydrate-priority";
  const auto text = call.headers().get(kHeader);
  if (equals_ignoring_case(text, "High")) return std::string("High");
  if (text.empty() || equals_ignoring_case(text, "Standard")) return std::string("Standard");
  return wire::invalid_header(kHeader, text);
}

wire::Result<Immutability> decode_immutability(const Call& call) {
  constexpr std::string_view kUntil = "x-ms-immutability-policy-until-date";
  constexpr std::string_view kMode = "x-ms-immutability-policy-mode";
  Immutability policy;
  if (const auto until = call.headers().find(kUntil)) {
    const auto time = wire::parse_http_date(*until);
    if (!time) return wire::invalid_header(kUntil, *until);
    policy.until = *time;
  }
  if (const auto mode = call.headers().find(kMode)) {
    if (!equals_ignoring_case(*mode, "locked") && !equals_ignoring_case(*mode, "unlocked")) {
      return wire::invalid_header(kMode, *mode);
    }
    policy.locked = equals_ignoring_case(*mode, "locked");
  }
  return policy;
}

namespace {
// What has a permission of its own takes it at creation, too; even an empty header asks for it.
wire::Result<void> check_letters(const Call& call) {
  static constexpr std::pair<std::string_view, char> kHeaders[] = {
      {"x-ms-tags", 't'},
      {"x-ms-immutability-policy-until-date", 'i'},
      {"x-ms-immutability-policy-mode", 'i'},
      {"x-ms-legal-hold", 'i'}};
  if (!call.caller.is_sas()) return {};
  for (const auto& [header, letter] : kHeaders) {
    if (call.headers().has(header) && !call.caller.permissions.has(letter))
      return wire::Error(Code::kAuthorizationPermissionMismatch);
  }
  return {};
}
}  // namespace

wire::Result<NewBlob> decode_new_blob(const Call& call, BlobType type) {
  if (auto allowed = check_letters(call); !allowed) return allowed.error();
  NewBlob fresh;
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) return metadata.error();
  fresh.metadata = std::move(*metadata);
  auto http = headers::decode_http_properties(call, headers::kBlobPropertyHeaders);
  if (!http) return http.error();
  fresh.http = std::move(*http);
  auto tags = decode_tags(call);
  if (!tags) return tags.error();
  fresh.tags = std::move(*tags);
  auto tier = decode_tier(call, "x-ms-access-tier");
  if (!tier) return tier.error();
  if (*tier && type != BlobType::kBlock) return wire::Error(Code::kInvalidBlobTier);
  fresh.tier = tier->value_or(Tier::kInferred);
  auto immutability = decode_immutability(call);
  if (!immutability) return immutability.error();
  fresh.immutability = *immutability;
  fresh.legal_hold = equals_ignoring_case(call.headers().get("x-ms-legal-hold"), "true");
  if ((fresh.immutability.until.set() || fresh.legal_hold) && !call.settings().blob_immutability) {
    return wire::Error(Code::kUnsupportedHeader)
        .saying("Immutability policies and legal holds are switched off for this account.");
  }
  return fresh;
}

wire::Result<void> fill_from_standard_headers(const Call& call, HttpProperties& http) {
  const std::pair<std::string_view, std::string*> standard[] = {
      {"Content-Type", &http.content_type},
      {"Content-Encoding", &http.content_encoding},
      {"Content-Language", &http.content_language},
      {"Cache-Control", &http.cache_control}};
  for (const auto& [header, value] : standard) {
    if (!value->empty()) continue;
    auto text = headers::decode_shown(call, header);
    if (!text) return text.error();
    *value = std::move(*text);
  }
  return {};
}

Blob make_blob(const Call& call, BlobType type, const NewBlob& fresh,
               const std::optional<Blob>& before) {
  Blob blob;
  blob.type = type;
  blob.created = call.now;
  if (before) {
    blob.changed = before->changed;  // touch_new_version() makes it later than that.
    blob.lease = before->lease;
  }
  blob.http = fresh.http;
  if (blob.http.content_type.empty()) blob.http.content_type = "application/octet-stream";
  blob.metadata = fresh.metadata;
  blob.tags = fresh.tags;
  blob.tier = fresh.tier;
  if (blob.tier != Tier::kInferred) blob.tier_changed = call.now;
  blob.immutability = fresh.immutability;
  blob.legal_hold = fresh.legal_hold;
  touch_new_version(call, blob);
  return blob;
}

wire::Result<void> check_overwrite(const Call& call, const std::optional<Blob>& before,
                                   BlobType type) {
  if (!before) return {};
  if (!auth::may_overwrite(call.caller)) return wire::Error(Code::kUnauthorizedBlobOverwrite);
  if (before->type != type) return wire::Error(Code::kInvalidBlobType);
  return {};
}

Task<wire::Result<void>> replace_blob(Call& call, Change& change, BlobType type,
                                      const NewBlob& fresh) {
  if (auto allowed = check_overwrite(call, change.blob, type); !allowed) co_return allowed.error();
  auto dropped = co_await drop_blocks(call, change.place, change.commit);
  if (!dropped) co_return dropped.error();
  change.blob = make_blob(call, type, fresh, change.blob);
  co_return wire::Result<void>();
}

Task<wire::Result<void>> check_before_body(Call& call, const Checks& checks) {
  if (auto base = require_base(call); !base) co_return base.error();
  auto place = co_await find_place(call, parents_of(checks.rules));
  if (!place) co_return place.error();
  auto loaded = co_await service::load<Blob>(call, head_key(*place));
  if (!loaded) co_return loaded.error();
  if (loaded->value && !is_visible(*loaded->value, call.now)) loaded->value.reset();
  if (const Way* way = place->way(); way != nullptr) {
    auto admitted = admit(call, *way, loaded->value ? &*loaded->value : nullptr);
    if (!admitted) co_return admitted.error();
  }
  if (!loaded->value && checks.lease_id) {
    store::Commit none;
    auto uncommitted = co_await find_uncommitted(call, *place, none);
    if (!uncommitted) co_return uncommitted.error();
    if (*uncommitted) co_return check_uncommitted(call, checks, **uncommitted);
  }
  auto passed = check_blob(call, checks, loaded->value);
  if (passed) co_return wire::Result<void>();
  auto error = co_await refused(call, *place, loaded->record, passed.error());
  // Nobody knows yet: what is there is looked at again once the body has come.
  if (error.conflict) co_return wire::Result<void>();
  co_return std::move(error);
}

Task<wire::Result<Uploaded>> receive_upload(Call& call, const Checks& checks, uint64_t most,
                                            Md5 md5) {
  if (auto early = co_await check_before_body(call, checks); !early) co_return early.error();
  co_return co_await receive_body(call, most, md5, cipher_of(checks.key));
}

}  // namespace kyanite::blob
