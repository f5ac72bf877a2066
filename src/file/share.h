// Finding and changing shares, and the trees of files they hold.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/task.h"
#include "concurrency/etag.h"
#include "concurrency/lease.h"
#include "file/records.h"
#include "headers/changed.h"
#include "headers/conditions.h"
#include "service/call.h"
#include "service/storage.h"
#include "tree/tree.h"
#include "wire/error.h"

namespace kyanite::file {

using tree::Tree;

store::Key share_key(const service::Call& call);

// Whoever comes with a token must say that file permissions are not looked at:
// x-ms-file-request-intent: backup.
wire::Result<void> check_intent(const service::Call& call);

// The addressed share; 404 ShareNotFound when there is none.
Task<wire::Result<std::shared_ptr<const Share>>> load_share(service::Call& call);

// 400 for a snapshot, where only the share itself can be meant.
wire::Result<void> require_share(const service::Call& call);

// The instant that sharesnapshot names; unset without it.
Time addressed_snapshot(const service::Call& call);
// What clients are told of a snapshot that is not there: older ones that the share is not.
wire::Error snapshot_not_found(const service::Call& call);
// The addressed snapshot of a share; 404 when there is none.
Task<wire::Result<service::Loaded<Snapshot>>> load_snapshot(service::Call& call,
                                                            const Share& share);

// The same for operations on the share or snapshot itself that may carry a lease id, which must
// then be right.
Task<wire::Result<std::shared_ptr<const Share>>> read_share(service::Call& call);
Task<wire::Result<Snapshot>> read_snapshot(service::Call& call);

// Has what is written to the share's files kept within its quota from now on, as the record says.
void keep_quota(const service::Call& call, const Share& share);

// What the request addresses: the share itself, or with sharesnapshot a snapshot of it.
Task<wire::Result<Tree>> find_tree(service::Call& call);
// The same for operations that only the share itself takes: 400 for a snapshot.
Task<wire::Result<Tree>> find_live_tree(service::Call& call);

// The state of the addressed share for a commit that takes or leases one of its snapshots, which
// must write it, with no deletion under way, guarded by what was loaded.
//
// A share's record lies in the directory and its snapshots in its own space, so no commit can see
// that there are none (or none that is leased) and delete the share. The deletion therefore notes
// itself in the state, looks, and takes the share away, guarded by the record it had read before.
// Whoever finds such a note changes that record first. So either the deletion fails and looks
// again, or the share is gone and there is nothing to take a snapshot of.
Task<wire::Result<service::Loaded<ShareState>>> load_for_snapshots(service::Call& call,
                                                                   store::SpaceId space);

// Read, decide, commit for operations on an existing share itself. Checks the lease id, then runs
// `edit(Share&) -> wire::Result<void>`, which may be called again after a conflict. Replies 200.
template <class Edit>
Task<wire::Result<http::Reply>> update_share(service::Call& call, Edit edit) {
  if (auto meant = require_share(call); !meant) co_return meant.error();
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto decide = [&](std::optional<Share>& share) -> wire::Result<Time> {
    if (!share) return wire::Error(wire::Code::kShareNotFound);
    auto use = concurrency::check_lease_use(share->lease, *lease_id, concurrency::LeaseUse::kShared,
                                            call.now);
    if (!use) return headers::lease_use_error(use.error(), headers::Leased::kShare);
    if (auto edited = edit(*share); !edited) return edited.error();
    return share->changed = concurrency::next_modified(call.now, share->changed);
  };
  auto changed = co_await service::update<Share>(call, share_key(call), decide);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  headers::encode_changed(reply, *changed);
  co_return reply;
}

}  // namespace kyanite::file
