// Delete Blob: DELETE /{container}/{blob}, also of one snapshot or one version
//
// With versioning the deleted state becomes a version; with soft delete it stays as a deleted head
// until its retention ends.
#include "base/bytes.h"
#include "blob/blob.h"
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
  char letter = call.target.version_id.empty() ? 'd' : 'x';
  if (equals_ignoring_case(call.query.get("deletetype"), "permanent")) letter = 'y';
  if (!call.caller.permissions.has(letter))
    return wire::Error(Code::kAuthorizationPermissionMismatch);
  return {};
}

// The blob's snapshots that are not deleted yet.
Task<wire::Result<std::vector<Head>>> list_snapshots(Call& call, store::SpaceId space) {
  std::vector<Head> heads;
  auto listed = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(store::Range::rows(space, kHeads, call.target.object, "s"));
    for (; cursor->valid(); cursor->next()) {
      auto record = cursor->record();
      if (!record) return record.error();
      auto blob = store::decode<Blob>((*record)->value);
      if (!blob) return store::Error::kCorrupt;
      if (blob->deleted.set()) continue;
      const auto key = store::Key::from_bytes(std::string(cursor->key()));
      heads.push_back({std::string(key.row()), *record, std::move(*blob)});
    }
    return cursor->status();
  });
  if (!listed) co_return service::storage_error(listed.error());
  co_return std::move(heads);
}

wire::Result<void> check_deletable(const Call& call, const Blob& blob) {
  if (blob.legal_hold) return wire::Error(Code::kBlobImmutableDueToLegalHold);
  if (blob.immutability.until > call.now) return wire::Error(Code::kBlobImmutableDueToPolicy);
  return {};
}

http::Reply deleted_reply(bool permanent) {
  http::Reply reply(202);
  reply.header("x-ms-delete-type-permanent", permanent ? "true" : "false");
  return reply;
}

// Removes heads for good, or marks them deleted where soft delete is on.
Task<wire::Result<void>> delete_heads(Call& call, store::SpaceId space, std::vector<Head> heads,
                                      const service::RetentionPolicy& retention,
                                      store::Commit& commit) {
  for (auto& head : heads) {
    if (auto allowed = check_deletable(call, head.blob); !allowed) co_return allowed.error();
    const auto key = head_key(call, space, head.row);
    commit.guards.push_back({key, head.record});
    if (!retention.enabled) continue;
    head.blob.deleted = call.now;
    head.blob.removal = after_seconds(call.now, int64_t{retention.days} * 24 * 3600);
    commit.writes.push_back({key, service::to_record(head.blob)});
  }
  if (retention.enabled) co_return wire::Result<void>();
  const content::Place place{space, call.target.object};
  auto removed = co_await remove_heads(call.store(), place, heads, commit);
  if (!removed) co_return service::storage_error(removed.error());
  co_return wire::Result<void>();
}

// One snapshot or version named by the request.
Outcome delete_former(Call& call, const Checks& checks, const service::RetentionPolicy& retention) {
  const bool permanent = equals_ignoring_case(call.query.get("deletetype"), "permanent");
  const bool soft = retention.enabled && !permanent;
  for (int tries = 0; tries < service::kMaxTries; ++tries) {
    auto found = co_await find_blob(call);
    if (!found) co_return found.error();
    auto met = check_blob(call, checks, *found->blob);
    if (!met) co_return met.error();
    // The id of the version that the blob has now.
    if (found->row.empty()) co_return wire::Error(Code::kOperationNotAllowedOnRootBlob);
    store::Commit commit;
    std::vector<Head> heads;
    heads.push_back({found->row, found->record, *found->blob});
    auto policy = retention;
    policy.enabled = soft;
    auto deleted = co_await delete_heads(call, found->space, std::move(heads), policy, commit);
    if (!deleted) co_return deleted.error();
    auto done = co_await call.store().commit(std::move(commit));
    if (done) co_return deleted_reply(!soft);
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return wire::Error(Code::kServerBusy);
}

}  // namespace

Outcome delete_blob(Call& call) {
  if (auto allowed = check_letter(call); !allowed) co_return allowed.error();
  auto snapshots = decode_snapshots(call);
  if (!snapshots) co_return snapshots.error();
  Rules rules = kChanges;
  rules.keep = Keep::kState;
  auto checks = decode_checks(call, rules);
  if (!checks) co_return checks.error();
  auto properties = co_await service::load_properties(call);
  if (!properties) co_return properties.error();
  const auto retention = (*properties)->delete_retention;
  if (!require_base(call)) {
    if (*snapshots != Snapshots::kNotNamed) {
      co_return wire::invalid_header("x-ms-delete-snapshots",
                                     call.headers().get("x-ms-delete-snapshots"));
    }
    co_return co_await delete_former(call, *checks, retention);
  }
  auto edit = [&](std::optional<Blob>& blob, store::SpaceId space,
                  store::Commit& commit) -> Outcome {
    auto heads = co_await list_snapshots(call, space);
    if (!heads) co_return heads.error();
    if (*snapshots == Snapshots::kNotNamed && !heads->empty())
      co_return wire::Error(Code::kSnapshotsPresent);
    auto deleted = co_await delete_heads(call, space, std::move(*heads), retention, commit);
    if (!deleted) co_return deleted.error();
    if (*snapshots != Snapshots::kOnly) {
      // Held blobs stay where they are, even where a version would keep their state.
      if (auto allowed = check_deletable(call, *blob); !allowed) co_return allowed.error();
      blob.reset();
    }
    co_return deleted_reply(!retention.enabled && !call.settings().blob_versioning);
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
