// Snapshot Share: PUT /{share}?restype=share&comp=snapshot
//
// One commit in the share's space begins a new generation: nothing is copied, and no change of a
// file can slip past it, because every change is guarded by the state written here.
#include <algorithm>

#include "file/handlers.h"
#include "file/share.h"
#include "service/changed.h"
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

}  // namespace

Outcome snapshot_share(Call& call) {
  if (auto meant = require_share(call); !meant) co_return meant.error();
  auto metadata = service::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  // Also keeps the share from being deleted meanwhile.
  auto turn = co_await call.context.locks.lock(share_key(call).bytes());
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  Snapshot snapshot{0, (*share)->changed, (*share)->properties, {}, (*share)->policies};
  if (!metadata->empty()) {
    snapshot.properties.metadata = std::move(*metadata);
    snapshot.changed = call.now;
  }
  for (int tries = 0; tries < service::kMaxTries; ++tries) {
    auto state = co_await service::load<ShareState>(call, state_key((*share)->space));
    if (!state) co_return state.error();
    ShareState next = state->value.value_or(ShareState());
    if (next.snapshots.size() >= kMaxSnapshots)
      co_return wire::Error(wire::Code::kShareSnapshotCountExceeded);
    auto instant = co_await free_instant(call, (*share)->space);
    if (!instant) co_return instant.error();
    snapshot.generation = next.current;
    next.snapshots.push_back(next.current++);
    const auto key = snapshot_key((*share)->space, *instant);
    store::Commit commit;
    commit.guards.push_back({state_key((*share)->space), state->record});
    commit.guards.push_back({key, nullptr});
    commit.writes.push_back({state_key((*share)->space), service::to_record(next)});
    commit.writes.push_back({key, service::to_record(snapshot)});
    auto done = co_await call.store().commit(std::move(commit));
    if (done) {
      http::Reply reply(201);
      service::encode_changed(reply, snapshot.changed);
      reply.header("x-ms-snapshot", wire::iso_date(*instant));
      co_return reply;
    }
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return wire::Error(wire::Code::kServerBusy);
}

}  // namespace kyanite::file
