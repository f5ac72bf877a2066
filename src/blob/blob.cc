#include "blob/blob.h"

#include <tuple>

#include "auth/authorize.h"
#include "base/bytes.h"
#include "blob/tags.h"
#include "concurrency/etag.h"
#include "wire/date.h"
#include "wire/version.h"

namespace kyanite::blob {

using concurrency::LeaseUse;
using service::Call;
using wire::Code;

store::Key head_key(const Call& call, store::SpaceId space, std::string_view row) {
  return store::Key(space, kHeads, call.target.object, row);
}

bool is_visible(const Blob& blob, Time now) {
  return !blob.deleted.set() && !(blob.expires.set() && blob.expires <= now);
}

namespace {
constexpr headers::ConditionHeaders kOwnConditions{"x-ms-blob-if-match", "x-ms-blob-if-none-match",
                                                   "x-ms-blob-if-modified-since",
                                                   "x-ms-blob-if-unmodified-since", ""};
}

wire::Result<Checks> decode_checks(const Call& call, const Rules& rules) {
  if (auto none = refuse_encryption_scope(call, "x-ms-encryption-scope"); !none)
    return none.error();
  Checks checks{rules, {}, {}, {}, {}, {}};
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) return lease_id.error();
  checks.lease_id = std::move(*lease_id);
  auto asked = headers::decode_conditions(call, rules.operation, rules.accepts);
  if (!asked) return asked.error();
  checks.asked = std::move(*asked);
  checks.asked.unmet = rules.unmet;
  checks.asked.if_match_foreign = rules.if_match_foreign;
  if (rules.own_conditions) {
    auto own =
        headers::decode_conditions(call, rules.operation, concurrency::kAcceptsAll, kOwnConditions);
    if (!own) return own.error();
    checks.own = std::move(*own);
  }
  if (checks.asked.conditions.if_tags) {
    if (auto allowed = auth::authorize_tags(call.caller); !allowed) return allowed.error();
    checks.if_tags = call.headers().get("x-ms-if-tags");
    if (auto valid = check_tag_condition(checks.if_tags); !valid) return valid.error();
  }
  auto key = decode_customer_key(call, rules.key);
  if (!key) return key.error();
  checks.key = std::move(*key);
  return checks;
}

namespace {
// Immutable blobs may be replaced only where the former state lives on as a version.
wire::Result<void> check_mutable(const Call& call, const Rules& rules, const Blob& blob) {
  if (!rules.changes_data || rules.operation == concurrency::Operation::kRead ||
      rules.operation == concurrency::Operation::kReadBefore2013) {
    return {};
  }
  if (rules.keep != Keep::kNothing && call.settings().blob_versioning) return {};
  if (blob.legal_hold) return wire::Error(Code::kBlobImmutableDueToLegalHold);
  if (blob.immutability.until > call.now) return wire::Error(Code::kBlobImmutableDueToPolicy);
  return {};
}

wire::Result<void> check_online(const Call& call, const Rules& rules, const Blob& blob) {
  if (rules.needs_online && blob.tier == Tier::kArchive && !is_rehydrated(blob, call.now))
    return wire::Error(Code::kBlobArchived);
  return {};
}

// `blob` is null where there is none; one that is uncommitted is none to what creates it.
wire::Result<void> check(const Call& call, const Checks& checks, const Blob* blob,
                         bool is_uncommitted = false) {
  const bool creates = checks.rules.operation == concurrency::Operation::kCreate;
  if (blob == nullptr && !creates) return wire::Error(Code::kBlobNotFound);
  if (blob != nullptr && blob->copy.status == CopyStatus::kPending &&
      (checks.rules.use == LeaseUse::kExclusive ||
       checks.rules.use == LeaseUse::kCopyDestination)) {
    return wire::Error(Code::kPendingCopyOperation);
  }
  const headers::StoredLease lease = blob != nullptr ? blob->lease : headers::StoredLease();
  if (auto use = concurrency::check_lease_use(lease, checks.lease_id, checks.rules.use, call.now);
      !use) {
    return headers::lease_use_error(use.error(), headers::Leased::kBlob);
  }
  concurrency::Target target;
  target.exists = blob != nullptr && !(is_uncommitted && creates);
  if (blob != nullptr) target.changed = blob->changed;
  if (!checks.if_tags.empty())
    target.tags_match = tag_condition_holds(checks.if_tags, blob != nullptr ? blob->tags : Tags());
  target.lease_held = checks.lease_id.has_value();
  if (auto met = headers::check_conditions(checks.asked, target); !met) return met.error();
  if (checks.own) {
    if (auto met = headers::check_conditions(*checks.own, target); !met) return met.error();
  }
  if (blob == nullptr || is_uncommitted) return {};
  const KeyUse use = checks.rules.key;
  if (use == KeyUse::kNeeds || (use == KeyUse::kVerifies && checks.key)) {
    if (auto fits = check_key(blob->key_sha256, checks.key); !fits) return fits.error();
  }
  if (auto online = check_online(call, checks.rules, *blob); !online) return online.error();
  return check_mutable(call, checks.rules, *blob);
}
}  // namespace

wire::Result<void> check_blob(const Call& call, const Checks& checks,
                              const std::optional<Blob>& blob) {
  return check(call, checks, blob ? &*blob : nullptr);
}

wire::Result<void> check_uncommitted(const Call& call, const Checks& checks,
                                     const Uncommitted& uncommitted) {
  const Blob blob = uncommitted.as_blob();
  return check(call, checks, &blob, true);
}

wire::Result<void> require_base(const Call& call) {
  constexpr std::string_view kOnly = "This operation is only allowed on the root blob. ";
  const auto& [snapshot, version] = std::tie(call.target.snapshot, call.target.version_id);
  if (!snapshot.empty()) {
    return wire::invalid_query("snapshot", snapshot,
                               std::string(kOnly) + "Snapshot should not be provided.");
  }
  if (!version.empty()) {
    return wire::invalid_query("versionid", version,
                               std::string(kOnly) + "Version id should not be provided.");
  }
  return {};
}

Task<wire::Result<FoundBlob>> find_blob(Call& call) {
  const auto space = co_await load_space(call);
  if (!space) co_return space.error();
  FoundBlob found{*space, {}, {}, {}, {}};
  std::optional<Time> version;
  if (!call.target.snapshot.empty()) {
    found.row = snapshot_row(wire::parse_iso_date(call.target.snapshot).value_or(Time()));
  } else if (!call.target.version_id.empty()) {
    version = wire::parse_iso_date(call.target.version_id);
  }
  const auto key = head_key(call, found.space, found.row);
  auto loaded = co_await service::load_shared<Blob>(call, key);
  if (!loaded) co_return loaded.error();
  // A version id may be that of the blob as it is now.
  if (version && (!loaded->value || loaded->value->version != *version)) {
    found.row = version_row(*version);
    const auto version_key = head_key(call, found.space, found.row);
    loaded = co_await service::load_shared<Blob>(call, version_key);
    if (!loaded) co_return loaded.error();
  }
  if (!loaded->value || !is_visible(*loaded->value, call.now)) {
    wire::Error error(Code::kBlobNotFound);
    if (loaded->value && loaded->value->deleted.set())
      error.headers.emplace_back("x-ms-is-soft-deleted", "true");
    co_return error;
  }
  found.record = std::move(loaded->record);
  found.blob = std::move(loaded->value);
  if (found.blob->rehydrate_to != Tier::kInferred) {
    auto current = std::make_shared<Blob>(*found.blob);
    finish_rehydration(*current, call.now);
    found.blob = std::move(current);
  }
  co_return std::move(found);
}

Task<wire::Result<FoundBlob>> read_blob(Call& call, concurrency::ConditionSet accepts, KeyUse key,
                                        bool own_conditions) {
  const Rules rules{.use = LeaseUse::kShared,
                    .operation = headers::read_operation(call),
                    .accepts = accepts,
                    .key = key,
                    .own_conditions = own_conditions};
  auto checks = decode_checks(call, rules);
  if (!checks) co_return checks.error();
  auto found = co_await find_blob(call);
  if (!found) co_return found.error();
  if (auto passed = check(call, *checks, found->blob.get()); !passed) co_return passed.error();
  found->key = std::move(checks->key);
  co_return std::move(*found);
}

void touch(const Call& call, Blob& blob) {
  blob.changed = concurrency::next_modified(call.now, blob.changed);
  concurrency::on_write(blob.lease, call.now);
}

void touch_new_version(const Call& call, Blob& blob) {
  touch(call, blob);
  if (call.settings().blob_versioning) blob.version = blob.changed;
}

Task<wire::Result<void>> begin_change(Call& call, const Checks& checks, Change& change) {
  const auto key = head_key(change.place);
  auto loaded = co_await service::load<Blob>(call, key);
  if (!loaded) co_return loaded.error();
  change.found = std::move(loaded->record);
  change.before = std::move(loaded->value);
  if (change.before && is_visible(*change.before, call.now)) change.blob = change.before;
  change.commit.expect(key, change.found);
  if (looks_for_uncommitted(checks.rules, change.blob)) {
    auto found = co_await find_uncommitted(call, change.place.space, change.commit);
    if (!found) co_return found.error();
    if (!change.blob) change.uncommitted = std::move(*found);
  }
  auto passed = change.uncommitted ? check_uncommitted(call, checks, *change.uncommitted)
                                   : check_blob(call, checks, change.blob);
  if (!passed) co_return passed.error();
  change.is_uncommitted = change.uncommitted && checks.rules.sees_uncommitted;
  if (change.is_uncommitted) change.blob = change.uncommitted->as_blob();
  co_return wire::Result<void>();
}

Task<wire::Result<void>> finish_change(Call& call, const Checks& checks, Change& change) {
  auto& [place, commit, found, before, blob, uncommitted, is_uncommitted] = change;
  // A lease that was taken before there was more than blocks goes on.
  if (uncommitted && blob && !is_uncommitted) {
    blob->lease = uncommitted->lease;
    concurrency::on_write(blob->lease, call.now);
  }
  auto settling = is_uncommitted ? settle_uncommitted(call, place.space, *uncommitted, blob, commit)
                                 : settle(call, checks.rules.keep, change);
  auto settled = co_await std::move(settling);
  if (!settled) co_return settled.error();
  if (const Tags had = before ? before->tags : Tags(); blob && gains_tags(had, blob->tags)) {
    auto indexed = co_await index_tags(call, place.space, had, blob->tags, commit);
    if (!indexed) co_return indexed.error();
  }
  co_return wire::Result<void>();
}

void encode_state(http::Reply& reply, const Blob& blob) {
  encode_changed(reply, blob.changed);
  if (blob.version.set()) reply.header("x-ms-version-id", wire::iso_date(blob.version));
}

void encode_properties(http::Reply& reply, const Call& call, const FoundBlob& found) {
  const Blob& blob = *found.blob;
  // A snapshot is of a version, but is none.
  if (parse_row(found.row).snapshot.set()) {
    encode_changed(reply, blob.changed);
  } else {
    encode_state(reply, blob);
  }
  if (blob.version.set() && found.row.empty()) reply.header("x-ms-is-current-version", "true");
  headers::encode_http_properties(reply, call, blob.http);
  reply.header("Accept-Ranges", "bytes");
  reply.header("x-ms-blob-type", name(blob.type));
  reply.header("x-ms-creation-time", wire::http_date(blob.created));
  // Leases are of blobs, not of versions, even of the current one.
  if (found.row.empty() && call.target.version_id.empty())
    headers::encode_lease(reply, blob.lease, call.now);
  reply.header("x-ms-server-encrypted", "true");
  if (blob.type == BlobType::kAppend)
    reply.header("x-ms-blob-committed-block-count", blob.committed_blocks);
  if (blob.type == BlobType::kPage) reply.header("x-ms-blob-sequence-number", blob.sequence_number);
  if (blob.sealed) reply.header("x-ms-blob-sealed", "true");
  if (!blob.tags.empty() && call.version >= wire::kBlobTags && auth::may_see_tags(call.caller))
    reply.header("x-ms-tag-count", blob.tags.size());
  if (blob.immutability.until.set()) {
    reply.header("x-ms-immutability-policy-until-date", wire::http_date(blob.immutability.until));
    reply.header("x-ms-immutability-policy-mode", blob.immutability.locked ? "locked" : "unlocked");
  }
  if (blob.legal_hold || blob.legal_hold_ended)
    reply.header("x-ms-legal-hold", blob.legal_hold ? "true" : "false");
  if (blob.expires.set()) reply.header("x-ms-expiry-time", wire::http_date(blob.expires));
  if (!blob.key_sha256.empty()) reply.header("x-ms-encryption-key-sha256", base64(blob.key_sha256));
  headers::encode_copy(reply, blob.copy);
  headers::encode_metadata(reply, blob.metadata);
}

}  // namespace kyanite::blob
