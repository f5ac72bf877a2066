// Lease File: PUT /{share}/{path}?comp=lease
#include "file/entry.h"
#include "file/handlers.h"
#include "headers/lease.h"

namespace kyanite::file {

using headers::LeaseAction;
using service::Call;

Outcome lease_file(Call& call) {
  auto action = headers::decode_lease_action(call, concurrency::kFileLeaseRules);
  if (!action) co_return action.error();
  int32_t seconds = 0;  // until a broken lease is over
  const Edit edit = [&](Entry& file, store::Commit&, const Located&) -> Task<wire::Result<void>> {
    auto applied =
        headers::apply_lease(*action, file.lease, concurrency::kFileLeaseRules, call.now);
    if (!applied) co_return applied.error();
    seconds = *applied;
    co_return wire::Result<void>();
  };
  // The id of a lease operation is judged by the lease itself. Only a lease that begins can be in
  // the way of SMB clients.
  const Rules rules{Kind::kFile,
                    action->kind == LeaseAction::Kind::kAcquire
                        ? concurrency::FileOperation::kLeaseFile
                        : concurrency::FileOperation::kGetFileProperties,
                    {},
                    false};
  auto changed = co_await change_entry(call, rules, edit);
  if (!changed) co_return changed.error();
  http::Reply reply = headers::leased_reply(*action, changed->entry->lease, seconds);
  headers::encode_changed(reply, changed->entry->changed);
  co_return reply;
}

}  // namespace kyanite::file
