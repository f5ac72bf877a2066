// Delete Blob: DELETE /{container}/{blob}, also of one snapshot or one version
//
// With versioning the deleted state becomes a version; with soft delete it stays as a deleted head
// until its retention ends.
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/deleted_paths.h"
#include "blob/deletion.h"
#include "blob/handlers.h"
#include "wire/date.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

enum class Snapshots { kNotNamed, kInclude, kOnly };

wire::Result<Snapshots> decode_snapshots(const Call& call) {
  constexpr std::string_view kHeader = "x-ms-delete-snapshots";
  const auto text = call.headers().find(kHeader);
  if (!text || text->empty()) return Snapshots::kNotNamed;
  if (*text == "include") return Snapshots::kInclude;
  if (*text == "only") return Snapshots::kOnly;
  return wire::invalid_header(kHeader, *text);
}

// 'd' deletes blobs and snapshots, 'x' versions, 'y' for good what is soft-deleted. Callers without
// a SAS have them all.
wire::Result<void> check_letter(const Call& call) {
  if (!call.caller.is_sas()) return {};
  const bool version = !call.target.version_id.empty() && call.target.snapshot.empty();
  char letter = version ? 'x' : 'd';
  if (equals_ignoring_case(call.query.get("deletetype"), "permanent")) letter = 'y';
  if (!call.caller.permissions.has(letter))
    return wire::Error(Code::kAuthorizationPermissionMismatch);
  return {};
}

// Whether what is soft-deleted is to be deleted for good.
wire::Result<bool> decode_permanent(const Call& call) {
  const auto type = call.query.find("deletetype");
  if (!type || type->empty()) return false;
  if (!equals_ignoring_case(*type, "permanent")) return wire::invalid_query("deletetype", *type);
  return true;
}

// The conditions on the time at which the blob's tier was last changed.
wire::Result<headers::Asked> decode_tier_conditions(const Call& call) {
  static constexpr headers::ConditionHeaders kHeaders{"", "", "x-ms-access-tier-if-modified-since",
                                                      "x-ms-access-tier-if-unmodified-since", ""};
  return headers::decode_conditions(call, concurrency::Operation::kUpdate,
                                    concurrency::kAcceptsDates, kHeaders);
}

wire::Result<void> check_tier_conditions(const headers::Asked& asked, const Blob& blob) {
  const Time changed = blob.tier_changed.set() ? blob.tier_changed : blob.created;
  return headers::check_conditions(asked, {.exists = true, .changed = changed});
}

http::Reply deleted_reply(bool permanent, Time kept = {}) {
  http::Reply reply(202);
  encode_deletion(reply, permanent, kept);
  return reply;
}

// One snapshot or version named by the request.
Outcome delete_former(Call& call, const Checks& checks, const headers::Asked& tier_conditions,
                      const account::RetentionPolicy& retention) {
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    auto found = co_await find_blob(call);
    if (!found) co_return found.error();
    auto met = check_blob(call, checks, *found->blob);
    if (!met) co_return met.error();
    if (auto fits = check_tier_conditions(tier_conditions, *found->blob); !fits)
      co_return fits.error();
    // The id of the version that the blob has now.
    if (found->row.empty()) co_return wire::Error(Code::kOperationNotAllowedOnRootBlob);
    if (found->place.way() != nullptr) guard(*found->place.way(), false, attempt.commit);
    std::vector<Head> heads;
    heads.push_back({found->row, found->record, *found->blob});
    co_return co_await delete_heads(call, found->place, std::move(heads), retention,
                                    attempt.commit);
  };
  if (auto deleted = co_await store::transact(call, decide); !deleted) co_return deleted.error();
  co_return deleted_reply(!retention.enabled);
}

wire::Error not_for_good(std::string_view why) {
  return wire::Error(Code::kBlobOperationNotSupported).saying(why);
}

// One soft-deleted snapshot or version, before its retention ends.
Outcome delete_for_good(Call& call, account::RetentionPolicy retention) {
  if (!retention.enabled || !retention.allow_permanent_delete)
    co_return wire::Error(Code::kPermanentDeleteIsOff);
  if (require_base(call))
    co_return not_for_good("Only snapshots and versions can be deleted permanently.");
  const auto container = co_await find_container(call);
  if (!container) co_return container.error();
  if ((*container)->hierarchical)
    co_return not_for_good("With hierarchical namespace only paths are kept when deleted.");
  const Place place((*container)->space, call.target.object);
  const bool snapshot = !call.target.snapshot.empty();
  const auto instant =
      wire::parse_iso_date(snapshot ? call.target.snapshot : call.target.version_id);
  const std::string row = snapshot ? snapshot_row(*instant) : version_row(*instant);
  retention.enabled = false;
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    auto loaded = co_await service::load<Blob>(call, head_key(place, row));
    if (!loaded) co_return loaded.error();
    if (!loaded->value) co_return wire::Error(Code::kBlobNotFound);
    if (!loaded->value->deleted.set())
      co_return not_for_good("Only what is deleted already can be deleted permanently.");
    std::vector<Head> heads;
    heads.push_back({row, loaded->record, *loaded->value});
    co_return co_await delete_heads(call, place, std::move(heads), retention, attempt.commit);
  };
  if (auto deleted = co_await store::transact(call, decide); !deleted) co_return deleted.error();
  co_return deleted_reply(true);
}

}  // namespace

Outcome delete_blob(Call& call) {
  if (auto allowed = check_letter(call); !allowed) co_return allowed.error();
  auto snapshots = decode_snapshots(call);
  if (!snapshots) co_return snapshots.error();
  auto permanent = decode_permanent(call);
  if (!permanent) co_return permanent.error();
  auto tier_conditions = decode_tier_conditions(call);
  if (!tier_conditions) co_return tier_conditions.error();
  Rules rules = kChanges;
  // The blob itself stays as it is where only its snapshots go.
  rules.keep = *snapshots == Snapshots::kOnly ? Keep::kNothing : Keep::kState;
  rules.changes_data = *snapshots != Snapshots::kOnly;
  rules.sees_uncommitted = true;
  rules.takes_directories = *snapshots == Snapshots::kNotNamed;
  auto checks = decode_checks(call, rules);
  if (!checks) co_return checks.error();
  // "Unless there is any" asks for nothing that a deletion could fail at.
  if (auto& none = checks->asked.conditions.if_none_match; none && none->any) none.reset();
  auto properties = co_await account::load_properties(call);
  if (!properties) co_return properties.error();
  const auto retention = (*properties)->delete_retention;
  if (*permanent) co_return co_await delete_for_good(call, retention);
  if (auto base = require_base(call); !base) {
    if (*snapshots != Snapshots::kNotNamed) co_return base.error();
    co_return co_await delete_former(call, *checks, *tier_conditions, retention);
  }
  bool keeps_version = false;
  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    // Where there are directories there are no versions.
    keeps_version = *snapshots != Snapshots::kOnly && call.settings().blob_versioning &&
                    !change.place.is_apart();
    auto met = check_tier_conditions(*tier_conditions, *change.blob);
    if (!met) co_return met.error();
    auto heads = co_await list_snapshots(call, change.place);
    if (!heads) co_return heads.error();
    if (*snapshots == Snapshots::kNotNamed && !heads->empty())
      co_return wire::Error(Code::kSnapshotsPresent);
    if (change.blob->is_directory()) {
      auto empty = co_await require_empty(call, seen_directory(change));
      if (!empty && empty.error().code == Code::kDirectoryNotEmpty)
        co_return wire::Error(Code::kDirectoryIsNotEmpty);
      if (!empty) co_return empty.error();
    }
    // Where there are directories, snapshots stay or go with their file.
    if (!change.place.is_apart() || *snapshots == Snapshots::kOnly) {
      auto deleted =
          co_await delete_heads(call, change.place, std::move(*heads), retention, change.commit);
      if (!deleted) co_return deleted.error();
    }
    if (*snapshots != Snapshots::kOnly) {
      // Held blobs stay where they are, even where a version would keep their state.
      if (auto allowed = check_deletable(call, *change.blob); !allowed) co_return allowed.error();
      change.blob.reset();
    }
    co_return wire::Result<void>();
  };
  auto deleted = co_await change_blob(call, *checks, edit);
  if (!deleted) co_return deleted.error();
  co_return deleted_reply(!retention.enabled && !keeps_version, deleted->deleted);
}

}  // namespace kyanite::blob
