// Lease Share: PUT /{share}?restype=share&comp=lease, of a share or of a snapshot
#include "file/handlers.h"
#include "file/share.h"
#include "headers/changed.h"
#include "headers/lease.h"

namespace kyanite::file {

namespace {
template <class Leased>
wire::Result<http::Reply> apply(const headers::LeaseAction& action, Leased& leased, Time now) {
  auto reply =
      headers::apply_lease_action(action, leased.lease, concurrency::kShareLeaseRules, now);
  if (!reply) return reply;
  headers::encode_changed(*reply, leased.changed);
  if (action.kind == headers::LeaseAction::Kind::kRelease)
    reply->header("x-ms-lease-time", uint64_t{0});
  return reply;
}

// Guarded by the share's state: a share whose snapshots are leased is not deleted.
Outcome lease_snapshot(service::Call& call, const headers::LeaseAction& action,
                       store::Commit& commit) {
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  const auto space = (*share)->space;
  auto state = co_await load_for_snapshots(call, space);
  if (!state) co_return state.error();
  auto snapshot = co_await load_snapshot(call, **share);
  if (!snapshot) co_return snapshot.error();
  auto reply = apply(action, *snapshot->value, call.now);
  if (!reply) co_return reply;
  const auto key = snapshot_key(space, addressed_snapshot(call));
  commit.expect(tree::state_key(space), state->record);
  commit.expect(key, snapshot->record);
  commit.put(tree::state_key(space), service::to_record(*state->value));
  commit.put(key, service::to_record(*snapshot->value));
  co_return reply;
}
}  // namespace

Outcome lease_share(service::Call& call) {
  auto action = headers::decode_lease_action(call, concurrency::kShareLeaseRules);
  if (!action) co_return action.error();
  if (call.target.snapshot.empty()) {
    auto decide = [&](std::optional<Share>& share) -> wire::Result<http::Reply> {
      if (!share) return wire::Error(wire::Code::kShareNotFound);
      return apply(*action, *share, call.now);
    };
    co_return co_await service::update<Share>(call, share_key(call), decide);
  }
  auto decide = [&](store::Attempt& attempt) {
    return lease_snapshot(call, *action, attempt.commit);
  };
  co_return co_await store::transact(call, decide);
}

}  // namespace kyanite::file
