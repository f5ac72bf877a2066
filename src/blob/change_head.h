// Changing one head in place, be it the blob itself, a snapshot or a version: tiers, tags,
// policies, holds, expiry.
#pragma once

#include "base/task.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

// `edit(Blob&) -> wire::Result<http::Reply>` may be called again after a conflict.
template <class Edit>
Task<wire::Result<http::Reply>> change_head(service::Call& call, const Checks& checks, Edit edit) {
  service::Tries tries(call);
  while (tries.another()) {
    auto found = co_await find_blob(call);
    if (!found) co_return found.error();
    Blob blob = *found->blob;
    if (auto passed = check_blob(call, checks, blob); !passed) co_return passed.error();
    wire::Result<http::Reply> reply = edit(blob);
    if (!reply) co_return reply;
    const auto key = head_key(call, found->space, found->row);
    store::Commit commit;
    commit.guards.push_back({key, found->record});
    commit.writes.push_back({key, service::to_record(blob)});
    // Only the blob itself is found by its tags, not its versions.
    if (const Tags& had = found->blob->tags; found->row.empty() && gains_tags(had, blob.tags)) {
      auto indexed = co_await index_tags(call, found->space, had, blob.tags, commit);
      if (!indexed) co_return indexed.error();
    }
    auto done = co_await call.store().commit(std::move(commit));
    if (done) co_return reply;
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return tries.error();
}

}  // namespace kyanite::blob
