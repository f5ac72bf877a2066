// Changing one head in place, be it the blob itself, a snapshot or a version: tiers, tags,
// policies, holds, expiry.
#pragma once

#include "base/task.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

// `edit(Blob&)` returns what came of it as a wire::Result. It may be called again after a conflict.
template <class Edit>
auto change_head(service::Call& call, const Checks& checks, Edit edit)
    -> Task<decltype(edit(std::declval<Blob&>()))> {
  using Decided = decltype(edit(std::declval<Blob&>()));
  auto decide = [&](store::Attempt& attempt) -> Task<Decided> {
    auto found = co_await find_blob(call);
    if (!found) co_return found.error();
    Blob blob = *found->blob;
    if (auto passed = check_blob(call, checks, blob); !passed) co_return passed.error();
    Decided decided = edit(blob);
    if (!decided) co_return std::move(decided);
    const auto key = head_key(call, found->space, found->row);
    attempt.commit.expect(key, found->record);
    attempt.commit.put(key, service::to_record(blob));
    // Only the blob itself is found by its tags, not its versions.
    if (const Tags& had = found->blob->tags; found->row.empty() && gains_tags(had, blob.tags)) {
      auto indexed = co_await index_tags(call, found->space, had, blob.tags, attempt.commit);
      if (!indexed) co_return indexed.error();
    }
    co_return std::move(decided);
  };
  co_return co_await store::transact(call, decide);
}

}  // namespace kyanite::blob
