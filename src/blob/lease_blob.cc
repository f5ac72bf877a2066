// Lease Blob: PUT /{container}/{blob}?comp=lease
#include "blob/blob.h"
#include "blob/handlers.h"
#include "headers/lease.h"

namespace kyanite::blob {

Outcome lease_blob(service::Call& call) {
  auto action = headers::decode_lease_action(call, concurrency::kBlobLeaseRules);
  if (!action) co_return action.error();
  // The lease id of a lease action is judged by the state machine, not as a use of the blob.
  constexpr Rules kLeases{.use = concurrency::LeaseUse::kShared,
                          .operation = concurrency::Operation::kUpdate,
                          .accepts = concurrency::kAcceptsAll,
                          .changes_data = false,
                          .sees_uncommitted = true};
  auto checks = decode_checks(call, kLeases);
  if (!checks) co_return checks.error();
  checks->lease_id.reset();
  auto edit = [&](std::optional<Blob>& blob, store::SpaceId,
                  store::Commit&) -> wire::Result<http::Reply> {
    if (blob->copy.status == CopyStatus::kPending)
      return wire::Error(wire::Code::kPendingCopyOperation);
    auto reply =
        headers::apply_lease_action(*action, blob->lease, concurrency::kBlobLeaseRules, call.now);
    if (reply) encode_changed(*reply, blob->changed);
    return reply;
  };
  co_return co_await change_blob(call, *checks, edit);
}

}  // namespace kyanite::blob
