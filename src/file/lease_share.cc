// Lease Share: PUT /{share}?restype=share&comp=lease, of a share or of a snapshot
#include "file/handlers.h"
#include "file/share.h"
#include "service/changed.h"
#include "service/lease.h"

namespace kyanite::file {

namespace {
template <class Leased>
wire::Result<http::Reply> apply(const service::LeaseAction& action, Leased& leased, Time now) {
  auto reply =
      service::apply_lease_action(action, leased.lease, concurrency::kShareLeaseRules, now);
  if (!reply) return reply;
  service::encode_changed(*reply, leased.changed);
  if (action.kind == service::LeaseAction::Kind::kRelease)
    reply->header("x-ms-lease-time", uint64_t{0});
  return reply;
}
}  // namespace

Outcome lease_share(service::Call& call) {
  auto action = service::decode_lease_action(call, concurrency::kShareLeaseRules);
  if (!action) co_return action.error();
  if (call.target.snapshot.empty()) {
    auto decide = [&](std::optional<Share>& share) -> wire::Result<http::Reply> {
      if (!share) return wire::Error(wire::Code::kShareNotFound);
      return apply(*action, *share, call.now);
    };
    co_return co_await service::update<Share>(call, share_key(call), decide);
  }
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  auto decide = [&](std::optional<Snapshot>& snapshot) -> wire::Result<http::Reply> {
    if (!snapshot) return snapshot_not_found(call);
    return apply(*action, *snapshot, call.now);
  };
  co_return co_await service::update<Snapshot>(
      call, snapshot_key((*share)->space, addressed_snapshot(call)), decide);
}

}  // namespace kyanite::file
