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
                          .takes_directories = true,
                          .sees_uncommitted = true};
  auto checks = decode_checks(call, kLeases);
  if (!checks) co_return checks.error();
  checks->lease_id.reset();
  int32_t seconds = 0;  // until a broken lease is over
  auto edit = [&](Change& change) -> wire::Result<void> {
    Blob& blob = *change.blob;
    if (blob.copy.status == CopyStatus::kPending)
      return wire::Error(wire::Code::kPendingCopyOperation);
    auto applied =
        headers::apply_lease(*action, blob.lease, concurrency::kBlobLeaseRules, call.now);
    if (!applied) return applied.error();
    seconds = *applied;
    return {};
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply = headers::leased_reply(*action, changed->lease, seconds);
  encode_changed(reply, changed->changed);
  co_return reply;
}

}  // namespace kyanite::blob
