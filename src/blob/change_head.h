// Changing one head in place, be it the blob itself, a snapshot or a version: tiers, tags,
// policies, holds, expiry.
#pragma once

#include "base/task.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

// `edit(Blob&)` changes it and returns a wire::Result<void>. It may be called again after a
// conflict. The result is the head as it is stored now.
template <class Edit>
Task<wire::Result<Blob>> change_head(service::Call& call, const Checks& checks, Edit edit) {
  Blob blob;
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    auto found = co_await find_blob(call);
    if (!found) co_return found.error();
    blob = *found->blob;
    if (auto passed = check_blob(call, checks, blob); !passed) co_return passed.error();
    if (auto edited = edit(blob); !edited) co_return edited.error();
    const auto key = head_key(found->place, found->row);
    attempt.commit.expect(key, found->record);
    attempt.commit.put(key, service::to_record(blob));
    if (found->place.way() != nullptr) guard(*found->place.way(), false, attempt.commit);
    // Only the blob itself is found by its tags, not its versions.
    if (const Tags& had = found->blob->tags; found->row.empty() && gains_tags(had, blob.tags)) {
      auto indexed = co_await index_tags(call, found->place, had, blob.tags, attempt.commit);
      if (!indexed) co_return indexed.error();
    }
    co_return wire::Result<void>();
  };
  auto changed = co_await store::transact(call, decide);
  if (!changed) co_return changed.error();
  co_return std::move(blob);
}

}  // namespace kyanite::blob
