// Lease Blob: PUT /{container}/{blob}?comp=lease
#include "blob/blob.h"
#include "blob/handlers.h"
#include "service/lease.h"

namespace kyanite::blob {

Outcome lease_blob(service::Call& call) {
  auto action = service::decode_lease_action(call, concurrency::kBlobLeaseRules);
  if (!action) co_return action.error();
  auto asked =
      service::decode_conditions(call, concurrency::Operation::kUpdate, concurrency::kAcceptsAll);
  if (!asked) co_return asked.error();
  // The lease id of a lease action is judged by the state machine, not as a use of the blob.
  const Checks checks{
      {concurrency::LeaseUse::kShared, concurrency::Operation::kUpdate, concurrency::kAcceptsAll},
      {},
      std::move(*asked)};
  auto edit = [&](std::optional<Blob>& blob, store::SpaceId,
                  store::Commit&) -> wire::Result<http::Reply> {
    auto reply =
        service::apply_lease_action(*action, blob->lease, concurrency::kBlobLeaseRules, call.now);
    if (reply) encode_changed(*reply, blob->changed);
    return reply;
  };
  co_return co_await change_blob(call, checks, edit);
}

}  // namespace kyanite::blob
