// Snapshot Share: PUT /{share}?restype=share&comp=snapshot
//
// One commit in the share's space begins a new generation: nothing is copied, and no change of a
// file can slip past it, because every change is guarded by the state written here.
#include <algorithm>

#include "file/handlers.h"
#include "file/refusals.h"
#include "file/service.h"
#include "file/share.h"
#include "headers/changed.h"
#include "tree/drafts.h"
#include "wire/date.h"

namespace kyanite::file {

using service::Call;

namespace {

constexpr size_t kMaxSnapshots = 200;

// Snapshots are named by whole seconds, all that Windows clients can say of a previous version.
// Those of one second follow each other.
Task<wire::Result<Time>> free_instant(Call& call, store::SpaceId space) {
  Time instant = Time::from_unix_seconds(call.now.unix_seconds());
  while (true) {
    auto taken = co_await call.store().get(snapshot_key(space, instant));
    if (!taken) co_return service::storage_error(taken.error());
    if (*taken == nullptr) co_return instant;
    instant = after_seconds(instant, 1);
  }
}

struct Taken {
  Time instant;
  Time changed;
};
Task<wire::Result<Taken>> take_snapshot(Call& call, const headers::Metadata& metadata,
                                        store::Commit& commit) {
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  const auto space = (*share)->space;
  // What clients have written before is shown.
  auto settled = co_await open_files(call).drafts().settle_share(space, call.deadline);
  if (!settled) co_return refusal(settled.error());
  auto state = co_await load_for_snapshots(call, space);
  if (!state) co_return state.error();
  ShareState& next = *state->value;
  if (next.snapshots.size() >= kMaxSnapshots)
    co_return wire::Error(wire::Code::kShareSnapshotCountExceeded);
  auto instant = co_await free_instant(call, space);
  if (!instant) co_return instant.error();
  Snapshot snapshot{
      next.take_snapshot(), (*share)->changed, (*share)->properties, {}, (*share)->policies};
  if (!metadata.empty()) {
    snapshot.properties.metadata = metadata;
    snapshot.changed = call.now;
  }
  const auto key = snapshot_key(space, *instant);
  commit.expect(tree::state_key(space), state->record);
  commit.expect_absent(key);
  commit.put(tree::state_key(space), service::to_record(next));
  commit.put(key, service::to_record(snapshot));
  co_return Taken{*instant, snapshot.changed};
}

}  // namespace

Outcome snapshot_share(Call& call) {
  if (auto meant = require_share(call); !meant) co_return meant.error();
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  auto decide = [&](store::Attempt& attempt) {
    return take_snapshot(call, *metadata, attempt.commit);
  };
  auto taken = co_await store::transact(call, share_key(call), decide);
  if (!taken) co_return taken.error();
  http::Reply reply(201);
  headers::encode_changed(reply, taken->changed);
  reply.header("x-ms-snapshot", wire::iso_date(taken->instant));
  co_return reply;
}

}  // namespace kyanite::file
