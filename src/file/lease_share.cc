// Lease Share: PUT /{share}?restype=share&comp=lease, of a share or of a snapshot
#include "file/handlers.h"
#include "file/share.h"
#include "headers/changed.h"
#include "headers/lease.h"

namespace kyanite::file {

namespace {

// What a reply tells of a share or of a snapshot.
struct Done {
  headers::StoredLease lease;
  Time changed;
  int32_t seconds;  // until a broken lease is over
};

template <class Leased>
wire::Result<Done> apply(const headers::LeaseAction& action, Leased& leased, Time now) {
  auto seconds = headers::apply_lease(action, leased.lease, concurrency::kShareLeaseRules, now);
  if (!seconds) return seconds.error();
  return Done{leased.lease, leased.changed, *seconds};
}

// Guarded by the share's state: a share whose snapshots are leased is not deleted.
Task<wire::Result<Done>> lease_snapshot(service::Call& call, const headers::LeaseAction& action,
                                        store::Commit& commit) {
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  const auto space = (*share)->space;
  auto state = co_await load_for_snapshots(call, space);
  if (!state) co_return state.error();
  auto snapshot = co_await load_snapshot(call, **share);
  if (!snapshot) co_return snapshot.error();
  auto done = apply(action, *snapshot->value, call.now);
  if (!done) co_return done.error();
  const auto key = snapshot_key(space, addressed_snapshot(call));
  commit.expect(tree::state_key(space), state->record);
  commit.expect(key, snapshot->record);
  commit.put(tree::state_key(space), service::to_record(*state->value));
  commit.put(key, service::to_record(*snapshot->value));
  co_return std::move(*done);
}

Task<wire::Result<Done>> lease(service::Call& call, const headers::LeaseAction& action) {
  if (!call.target.snapshot.empty()) {
    auto decide = [&](store::Attempt& attempt) {
      return lease_snapshot(call, action, attempt.commit);
    };
    co_return co_await store::transact(call, decide);
  }
  auto decide = [&](std::optional<Share>& share) -> wire::Result<Done> {
    if (!share) return wire::Error(wire::Code::kShareNotFound);
    return apply(action, *share, call.now);
  };
  co_return co_await service::update<Share>(call, share_key(call), decide);
}

}  // namespace

Outcome lease_share(service::Call& call) {
  auto action = headers::decode_lease_action(call, concurrency::kShareLeaseRules);
  if (!action) co_return action.error();
  auto done = co_await lease(call, *action);
  if (!done) co_return done.error();
  http::Reply reply = headers::leased_reply(*action, done->lease, done->seconds);
  headers::encode_changed(reply, done->changed);
  if (action->kind == headers::LeaseAction::Kind::kRelease)
    reply.header("x-ms-lease-time", uint64_t{0});
  co_return reply;
}

}  // namespace kyanite::file
