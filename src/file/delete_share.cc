// Delete Share: DELETE /{share}?restype=share, a share with or without its snapshots, or one
// snapshot
//
// The record of a share leaves the living in one commit: its files are unreachable at once. Where
// the account keeps deleted shares, or their names for a while, it moves to the deleted ones; else
// its space is dead and cleaned in the background.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "file/handlers.h"
#include "file/refusals.h"
#include "file/service.h"
#include "file/share.h"
#include "lifetime/deleted.h"
#include "tree/drafts.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kDeleteSnapshots = "x-ms-delete-snapshots";

enum class Snapshots { kNone, kInclude, kIncludeLeased };

wire::Result<Snapshots> decode_snapshots(const Call& call) {
  const auto text = call.headers().find(kDeleteSnapshots);
  if (!text) return Snapshots::kNone;
  if (equals_ignoring_case(*text, "include")) return Snapshots::kInclude;
  if (equals_ignoring_case(*text, "include-leased")) return Snapshots::kIncludeLeased;
  return wire::invalid_header(kDeleteSnapshots, *text);
}

template <class Leased>
wire::Result<void> check_lease(const Call& call, const Leased& leased,
                               const std::optional<std::string>& lease_id) {
  auto use = concurrency::check_lease_use(leased.lease, lease_id, concurrency::LeaseUse::kExclusive,
                                          call.now);
  if (!use) return headers::lease_use_error(use.error(), headers::Leased::kShare);
  return {};
}

// Whether the share's snapshots let it be deleted.
Task<wire::Result<void>> check_snapshots(Call& call, const Share& share, Snapshots option) {
  bool any = false;
  bool leased = false;
  auto done = co_await call.store().look([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(store::Range::rows(share.space, kSnapshots, kSharePartition));
    for (; cursor->valid(); cursor->next()) {
      auto record = cursor->record();
      if (!record) return record.error();
      const auto snapshot = store::decode<Snapshot>((*record)->value);
      if (!snapshot) return store::Error::kCorrupt;
      any = true;
      leased |= concurrency::is_locked(concurrency::lease_state(snapshot->lease, call.now));
    }
    return cursor->status();
  });
  if (!done) co_return service::storage_error(done.error());
  if (any && option == Snapshots::kNone) co_return wire::Error(Code::kShareHasSnapshots);
  if (leased) co_return wire::Error(Code::kDeleteShareWhenSnapshotLeased);
  co_return wire::Result<void>();
}

// Notes the deletion for those who take or lease snapshots: see load_for_snapshots().
Task<wire::Result<void>> note_deletion(Call& call, store::SpaceId space) {
  const auto key = tree::state_key(space);
  auto state = co_await service::load<ShareState>(call, key);
  if (!state) co_return state.error();
  ShareState next = state->value.value_or(ShareState());
  next.deletion = random_u64() | 1;
  store::Commit commit;
  commit.expect(key, state->record);
  commit.put(key, service::to_record(next));
  auto done = co_await call.store().commit(std::move(commit));
  if (!done) co_return service::storage_error(done.error());
  co_return wire::Result<void>();
}

struct DeletedSnapshot {
  store::SpaceId share = 0;
  Generation generation = 0;
};

Task<wire::Result<DeletedSnapshot>> delete_snapshot(Call& call,
                                                    const std::optional<std::string>& lease_id,
                                                    store::Commit& commit) {
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  const auto key = snapshot_key((*share)->space, addressed_snapshot(call));
  auto snapshot = co_await service::load<Snapshot>(call, key);
  if (!snapshot) co_return snapshot.error();
  // This is said in every version.
  if (!snapshot->value) co_return wire::Error(Code::kShareSnapshotNotFound);
  if (auto held = check_lease(call, *snapshot->value, lease_id); !held) co_return held.error();
  auto state = co_await service::load<ShareState>(call, tree::state_key((*share)->space));
  if (!state) co_return state.error();
  ShareState next = state->value.value_or(ShareState());
  next.forget_snapshot(snapshot->value->generation);
  commit.expect(key, snapshot->record);
  commit.expect(tree::state_key((*share)->space), state->record);
  commit.remove(key);
  commit.put(tree::state_key((*share)->space), service::to_record(next));
  co_return DeletedSnapshot{(*share)->space, snapshot->value->generation};
}

// The space of the share, which is to be gone.
Task<wire::Result<store::SpaceId>> delete_whole(Call& call,
                                                const std::optional<std::string>& lease_id,
                                                Snapshots option, store::Commit& commit) {
  const auto key = share_key(call);
  auto loaded = co_await service::load<Share>(call, key);
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return wire::Error(Code::kShareNotFound);
  const Share& share = *loaded->value;
  if (auto held = check_lease(call, share, lease_id); !held) co_return held.error();
  if (option != Snapshots::kIncludeLeased) {
    // Once before, so that a share that must stay is refused without being written to.
    if (auto free = co_await check_snapshots(call, share, option); !free) co_return free.error();
    if (auto noted = co_await note_deletion(call, share.space); !noted) co_return noted.error();
    if (auto free = co_await check_snapshots(call, share, option); !free) co_return free.error();
  }
  if (call.settings().share_retention_days > 0) {
    // What clients have written is part of what may be restored.
    co_await open_files(call).drafts().settle_share_if_possible(share.space, call.deadline);
    if (call.deadline.over()) co_return service::storage_error(store::Error::kTimeout);
  }
  commit.expect(key, loaded->record);
  commit.remove(key);
  lifetime::leave_remains(call, lifetime::kShareGraves, share, call.settings().share_retention_days,
                          commit);
  co_return share.space;
}

}  // namespace

Outcome delete_share(Call& call) {
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto option = decode_snapshots(call);
  if (!option) co_return option.error();
  const bool snapshot = !call.target.snapshot.empty();
  if (snapshot && *option != Snapshots::kNone)
    co_return wire::invalid_header(kDeleteSnapshots, call.headers().get(kDeleteSnapshots));
  if (snapshot) {
    auto decide = [&](store::Attempt& attempt) {
      return delete_snapshot(call, *lease_id, attempt.commit);
    };
    auto deleted = co_await store::transact(call, share_key(call), decide);
    if (!deleted) co_return deleted.error();
    open_files(call).force_close_snapshot(deleted->share, deleted->generation);
    co_return http::Reply(202);
  }
  std::optional<store::SpaceId> meant;
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<store::SpaceId>> {
    meant.reset();
    auto space = co_await delete_whole(call, *lease_id, *option, attempt.commit);
    if (space) meant = *space;
    co_return space;
  };
  auto deleted = co_await store::transact(call, share_key(call), decide);
  if (!deleted) {
    if (meant) file_service(call).note_doubtful(*meant);
    co_return deleted.error();
  }
  file_service(call).end_share(*deleted);
  co_return http::Reply(202);
}

}  // namespace kyanite::file
