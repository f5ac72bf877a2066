#include "blob/blob.h"

#include <tuple>

#include "auth/authorize.h"
#include "base/bytes.h"
#include "blob/admission.h"
#include "blob/dead_trees.h"
#include "blob/node_headers.h"
#include "blob/tags.h"
#include "concurrency/etag.h"
#include "tree/change.h"
#include "wire/date.h"
#include "wire/version.h"

namespace kyanite::blob {

using concurrency::LeaseUse;
using service::Call;
using wire::Code;

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
bool is_read(const Rules& rules) {
  return rules.operation == concurrency::Operation::kRead ||
         rules.operation == concurrency::Operation::kReadBefore2013;
}

// Immutable blobs may be replaced only where the former state lives on as a version, which it does
// not where there are directories.
wire::Result<void> check_mutable(const Call& call, const Rules& rules, const Blob& blob) {
  if (!rules.changes_data || is_read(rules)) return {};
  if (rules.keep != Keep::kNothing && call.settings().blob_versioning && !blob.node) return {};
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
  if (blob != nullptr && blob->is_directory() && !checks.rules.takes_directories &&
      !is_read(checks.rules)) {
    return wire::Error(creates ? Code::kResourceTypeMismatch
                               : Code::kOperationNotSupportedOnDirectory);
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

Task<wire::Result<Place>> find_place(Call& call, Parents parents) {
  const auto container = co_await find_container(call);
  if (!container) co_return container.error();
  if (!(*container)->hierarchical) co_return Place((*container)->space, call.target.object);
  auto way = co_await follow(call, **container, call.target.object, parents);
  if (!way) co_return way.error();
  co_return Place(lake_space(call.target.account), std::move(*way));
}

Task<wire::Result<Place>> find_place(Call& call, const Container& container, Parents parents,
                                     store::Attempt& attempt) {
  auto way = co_await follow(call, container, call.target.object, parents);
  if (!way) co_return way.error();
  Place place(lake_space(call.target.account), std::move(*way));
  std::vector<store::Key> keys(1, head_key(place));
  if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn)
    co_return service::storage_error(turn.error());
  co_return std::move(place);
}

Task<wire::Error> refused(Call& call, const Place& place, store::RecordPtr head,
                          wire::Error error) {
  if (place.way() == nullptr || error.conflict) co_return std::move(error);
  auto same = co_await confirm(call, head_key(place), std::move(head));
  if (!same) co_return same.error();
  auto confirmed = co_await confirm(call, *place.way());
  if (!confirmed) co_return confirmed.error();
  co_return std::move(error);
}

namespace {
// Which head of the blob the request addresses; the id of a version may be that of the blob as it
// is now, which is seen when that is loaded.
std::string addressed_row(const Call& call) {
  if (call.target.snapshot.empty()) return {};
  return snapshot_row(wire::parse_iso_date(call.target.snapshot).value_or(Time()));
}

wire::Error not_found(const Blob* blob) {
  wire::Error error(Code::kBlobNotFound);
  if (blob != nullptr && blob->deleted.set())
    error.headers.emplace_back("x-ms-is-soft-deleted", "true");
  return error;
}

// Whose access control holds for a snapshot: that of the file as it is now, unless another was made
// in the place of the one that it is of.
const Blob& with_access_of(const Blob& file, const Blob* snapshot) {
  const bool of_another =
      snapshot != nullptr && snapshot->node && snapshot->node->moves != file.node->moves;
  return of_another ? *snapshot : file;
}

// A blob whose rehydration is over by now is back.
void settle_rehydration(const Call& call, FoundBlob& found) {
  if (found.blob->rehydrate_to == Tier::kInferred) return;
  auto current = std::make_shared<Blob>(*found.blob);
  finish_rehydration(*current, call.now);
  found.blob = std::move(current);
}
}  // namespace

Task<wire::Result<FoundBlob>> find_blob(Call& call) {
  for (int tries = 1;; ++tries) {
    auto place = co_await find_place(call);
    if (!place) co_return place.error();
    FoundBlob found{std::move(*place), addressed_row(call), {}, {}, {}};
    const Way* way = found.place.way();
    const auto key = head_key(found.place, way != nullptr ? std::string_view() : found.row);
    auto loaded = co_await service::load_shared<Blob>(call, key);
    if (!loaded) co_return loaded.error();
    if (way != nullptr) {
      // What is not the blob itself lies under its id. Of a root there may be nothing to be found
      // yet.
      if (loaded->value == nullptr && way->to_root()) loaded->value = way->directories.front().blob;
      if (loaded->value == nullptr) co_return wire::Error(Code::kBlobNotFound);
      found.place.identify(loaded->value->node_id);
      const auto file = loaded->value;
      if (!found.row.empty()) {
        const auto former = head_key(found.place, found.row);
        loaded = co_await service::load_shared<Blob>(call, former);
        if (!loaded) co_return loaded.error();
      }
      const Blob& asked = with_access_of(*file, loaded->value.get());
      if (auto admitted = admit(call, *way, &asked); !admitted) co_return admitted.error();
    }
    if (call.target.snapshot.empty() && !call.target.version_id.empty()) {
      const auto version = wire::parse_iso_date(call.target.version_id);
      if (version && (!loaded->value || loaded->value->version != *version)) {
        found.row = version_row(*version);
        const auto version_key = head_key(found.place, found.row);
        loaded = co_await service::load_shared<Blob>(call, version_key);
        if (!loaded) co_return loaded.error();
      }
    }
    if (!loaded->value || !is_visible(*loaded->value, call.now))
      co_return not_found(loaded->value.get());
    found.record = std::move(loaded->record);
    found.blob = std::move(loaded->value);
    settle_rehydration(call, found);
    if (way == nullptr) co_return std::move(found);
    auto confirmed = co_await confirm(call, *way);
    if (confirmed) co_return std::move(found);
    if (!confirmed.error().conflict || tries == store::kMaxTries) co_return confirmed.error();
  }
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
  const Way* way = change.place.way();
  if (way != nullptr && way->to_root()) change.before = *way->directories.front().blob;
  if (change.before && is_visible(*change.before, call.now)) change.blob = change.before;
  change.commit.expect(key, change.found);
  if (way != nullptr) {
    // What comes into the place of an expired file is another one.
    if (change.before && !change.blob) {
      bury_tree(change.place.space(), change.before->node_id, call.now, change.commit);
      change.before.reset();
    }
    change.place.identify(change.before ? change.before->node_id : tree::new_id());
    guard(*way, !change.before, change.commit);
  }
  if (looks_for_uncommitted(checks.rules, change.blob)) {
    auto found = co_await find_uncommitted(call, change.place, change.commit);
    if (!found) co_return found.error();
    if (!change.blob) change.uncommitted = std::move(*found);
  }
  if (way != nullptr) {
    auto admitted = change.uncommitted ? admit_uncommitted(call, *way)
                                       : admit(call, *way, change.blob ? &*change.blob : nullptr);
    if (!admitted) co_return admitted.error();
  }
  auto passed = change.uncommitted ? check_uncommitted(call, checks, *change.uncommitted)
                                   : check_blob(call, checks, change.blob);
  if (!passed) co_return passed.error();
  change.is_uncommitted = change.uncommitted && checks.rules.sees_uncommitted;
  if (change.is_uncommitted) change.blob = change.uncommitted->as_blob();
  co_return wire::Result<void>();
}

namespace {
bool is_held(const Blob& blob) { return blob.legal_hold || blob.immutability.until.set(); }
}  // namespace

Task<wire::Result<void>> finish_change(Call& call, const Checks& checks, Change& change) {
  auto& [place, commit, found, before, blob, uncommitted, is_uncommitted, deleted] = change;
  // A lease that was taken before there was more than blocks goes on.
  if (uncommitted && blob && !is_uncommitted) {
    blob->lease = uncommitted->lease;
    concurrency::on_write(blob->lease, call.now);
  }
  if (place.way() != nullptr && blob && !is_uncommitted) {
    if (is_held(*blob) && !(before && is_held(*before))) {
      co_return wire::Error(Code::kUnsupportedHeader)
          .saying("With hierarchical namespace there are no policies and holds of single blobs.");
    }
    blob->version = {};
    if (!blob->node && before) {
      blob->node = before->node;
      blob->node_id = before->node_id;
    } else if (!blob->node) {
      give_node(call, *place.way(), false, place.id(), *blob);
    }
  }
  auto settling = is_uncommitted ? settle_uncommitted(call, place, *uncommitted, blob, commit)
                                 : settle(call, checks.rules.keep, change);
  auto settled = co_await std::move(settling);
  if (!settled) co_return settled.error();
  if (const Tags had = before ? before->tags : Tags(); blob && gains_tags(had, blob->tags)) {
    auto indexed = co_await index_tags(call, place, had, blob->tags, commit);
    if (!indexed) co_return indexed.error();
  }
  co_return wire::Result<void>();
}

void encode_state(http::Reply& reply, const Blob& blob) {
  encode_changed(reply, blob.changed);
  if (blob.version.set()) reply.header("x-ms-version-id", wire::iso_date(blob.version));
}

void encode_properties(http::Reply& reply, const Call& call, const FoundBlob& found,
                       bool tells_lease) {
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
  if (tells_lease && found.row.empty() && call.target.version_id.empty())
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
  if (blob.node) encode_node(reply, call, blob);
  headers::encode_metadata(reply, blob.metadata);
}

}  // namespace kyanite::blob
