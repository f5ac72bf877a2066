#include "file/share.h"

#include "base/bytes.h"
#include "file/service.h"
#include "file/versions.h"
#include "lifetime/directory.h"
#include "wire/date.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

store::Key share_key(const Call& call) {
  return store::Key(lifetime::directory_space(call.target.account), lifetime::kSharesFamily,
                    call.target.container);
}

wire::Result<void> check_intent(const Call& call) {
  constexpr std::string_view kHeader = "x-ms-file-request-intent";
  if (call.caller.kind != auth::Caller::Kind::kBearer) return {};
  const auto intent = call.headers().find(kHeader);
  if (!intent) return wire::missing_header(kHeader);
  if (!equals_ignoring_case(*intent, "backup")) return wire::invalid_header(kHeader, *intent);
  return {};
}

Task<wire::Result<std::shared_ptr<const Share>>> load_share(Call& call) {
  if (auto meant = check_intent(call); !meant) co_return meant.error();
  auto loaded = co_await service::load_shared<Share>(call, share_key(call));
  if (!loaded) co_return loaded.error();
  if (loaded->value == nullptr) co_return wire::Error(Code::kShareNotFound);
  co_return std::move(loaded->value);
}

wire::Result<void> require_share(const Call& call) {
  if (call.target.snapshot.empty()) return {};
  return wire::Error(Code::kShareSnapshotOperationNotSupported);
}

Time addressed_snapshot(const Call& call) {
  return wire::parse_iso_date(call.target.snapshot).value_or(Time());
}

wire::Error snapshot_not_found(const Call& call) {
  return wire::Error(call.version >= kShareSnapshotNotFound ? Code::kShareSnapshotNotFound
                                                            : Code::kShareNotFound);
}

Task<wire::Result<service::Loaded<Snapshot>>> load_snapshot(Call& call, const Share& share) {
  auto loaded =
      co_await service::load<Snapshot>(call, snapshot_key(share.space, addressed_snapshot(call)));
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return snapshot_not_found(call);
  co_return std::move(*loaded);
}

namespace {
wire::Result<void> check_lease_id(const Call& call, const concurrency::Lease& lease) {
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) return lease_id.error();
  auto use =
      concurrency::check_lease_use(lease, *lease_id, concurrency::LeaseUse::kShared, call.now);
  if (!use) return headers::lease_use_error(use.error(), headers::Leased::kShare);
  return {};
}
}  // namespace

Task<wire::Result<std::shared_ptr<const Share>>> read_share(Call& call) {
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  if (auto right = check_lease_id(call, (*share)->lease); !right) co_return right.error();
  co_return std::move(*share);
}

Task<wire::Result<Snapshot>> read_snapshot(Call& call) {
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  auto snapshot = co_await load_snapshot(call, **share);
  if (!snapshot) co_return snapshot.error();
  if (auto right = check_lease_id(call, snapshot->value->lease); !right) co_return right.error();
  co_return std::move(*snapshot->value);
}

void keep_quota(const Call& call, const Share& share) {
  usage(call).set_quota(share.space, share.quota_bytes(), share.changed);
}

Task<wire::Result<Tree>> find_tree(Call& call) {
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  Tree tree{(*share)->space, (*share)->created, &open_files(call)};
  tree.usage = &usage(call);
  keep_quota(call, **share);
  if (!call.target.snapshot.empty()) {
    auto snapshot = co_await load_snapshot(call, **share);
    if (!snapshot) co_return snapshot.error();
    tree.shown = snapshot->value->generation;
  }
  co_return tree;
}

Task<wire::Result<Tree>> find_live_tree(Call& call) {
  if (auto meant = require_share(call); !meant) co_return meant.error();
  co_return co_await find_tree(call);
}

namespace {
Task<wire::Result<void>> withdraw_deletion(Call& call, store::SpaceId space) {
  const auto key = share_key(call);
  auto loaded = co_await service::load<Share>(call, key);
  if (!loaded) co_return loaded.error();
  if (!loaded->value || loaded->value->space != space) co_return wire::Error(Code::kShareNotFound);
  ++loaded->value->withdrawn;
  store::Commit commit;
  commit.expect(key, loaded->record);
  commit.put(key, service::to_record(*loaded->value));
  auto done = co_await call.store().commit(std::move(commit));
  if (!done) co_return service::storage_error(done.error());
  co_return wire::Result<void>();
}
}  // namespace

Task<wire::Result<service::Loaded<ShareState>>> load_for_snapshots(Call& call,
                                                                   store::SpaceId space) {
  auto state = co_await service::load<ShareState>(call, tree::state_key(space));
  if (!state) co_return state.error();
  if (!state->value) state->value.emplace();
  if (state->value->deletion != 0) {
    if (auto withdrawn = co_await withdraw_deletion(call, space); !withdrawn)
      co_return withdrawn.error();
    state->value->deletion = 0;
  }
  co_return std::move(*state);
}

}  // namespace kyanite::file
