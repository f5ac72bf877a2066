// What becomes of a blob's former state: a version, a soft-deleted head, or nothing; and of content
// that no head names any more.
#include <vector>

#include "blob/blob.h"
#include "blob/heads.h"

namespace kyanite::blob {

using service::Call;

Task<wire::Result<Time>> free_instant(Call& call, store::SpaceId space, std::string (*row)(Time),
                                      Time first) {
  Time instant = first;
  for (int tries = 0; tries < store::kMaxTries; ++tries) {
    if (call.deadline.over()) co_return wire::Error(wire::Code::kOperationTimedOut);
    auto taken = co_await call.store().get(head_key(call, space, row(instant)));
    if (!taken) co_return service::storage_error(taken.error());
    if (*taken == nullptr) co_return instant;
    ++instant.ticks;
  }
  co_return service::storage_error(store::Error::kConflict);
}

void put_former(const Call& call, store::SpaceId space, std::string_view row, const Blob& blob,
                store::Commit& commit) {
  const auto key = head_key(call, space, row);
  commit.expect_absent(key);
  commit.put(key, service::to_record(blob));
}

namespace {

// A former state has no lease of its own.
Blob former(const Blob& before) {
  Blob blob = before;
  blob.lease = {};
  return blob;
}

// Two heads of one content: both name it, unless it is written in place. Then the former state gets
// a list of pieces of its own.
Task<wire::Result<void>> part(Call& call, store::SpaceId space, Blob& past, Blob& after,
                              store::Commit& commit) {
  if (!past.content.sparse) {
    past.content_shared = after.content_shared = true;
    co_return wire::Result<void>();
  }
  const content::Place place{space, call.target.object};
  const store::Guard head = commit.guard_of(head_key(call, space));
  auto copied =
      co_await content::copy(call.store(), commit, place, past.content, place, head, call.deadline);
  if (!copied) co_return service::storage_error(copied.error());
  past.content = *copied;
  co_return wire::Result<void>();
}

// A soft-deleted blob whose name is taken by a new one lives on among the deleted snapshots.
Task<wire::Result<void>> keep_deleted(Call& call, store::SpaceId space, const Blob& before,
                                      store::Commit& commit) {
  const auto instant = co_await free_instant(call, space, snapshot_row, before.deleted);
  if (!instant) co_return instant.error();
  put_former(call, space, snapshot_row(*instant), former(before), commit);
  co_return wire::Result<void>();
}

Task<wire::Result<void>> keep_version(Call& call, store::SpaceId space, const Blob& before,
                                      std::optional<Blob>& after, store::Commit& commit) {
  Blob past = former(before);
  if (!past.version.set()) {
    // Nobody was told an id yet.
    const auto version = co_await free_instant(call, space, version_row, before.changed);
    if (!version) co_return version.error();
    past.version = *version;
  }
  if (after && before.content.id == after->content.id) {
    if (auto parted = co_await part(call, space, past, *after, commit); !parted)
      co_return parted.error();
  }
  put_former(call, space, version_row(past.version), past, commit);
  co_return wire::Result<void>();
}

// Where soft delete is on; else false.
Task<wire::Result<bool>> keep_soft_deleted(Call& call, store::SpaceId space, const Blob& before,
                                           std::optional<Blob>& after, store::Commit& commit) {
  auto properties = co_await account::load_properties(call);
  if (!properties) co_return properties.error();
  const auto& retention = (*properties)->delete_retention;
  if (!retention.enabled) co_return false;
  Blob past = former(before);
  if (after && before.content.id == after->content.id) {
    if (auto parted = co_await part(call, space, past, *after, commit); !parted)
      co_return parted.error();
  }
  past.deleted = call.now;
  past.removal = after_seconds(call.now, int64_t{retention.days} * 24 * 3600);
  if (after) {
    put_former(call, space, snapshot_row(call.now), past, commit);
  } else {
    commit.put(head_key(call, space), service::to_record(past));
  }
  co_return true;
}

}  // namespace

Task<wire::Result<void>> settle(Call& call, store::SpaceId space, Keep keep,
                                const std::optional<Blob>& before, std::optional<Blob> after,
                                store::Commit& commit) {
  bool kept = false;
  if (before && before->deleted.set()) {
    if (after) {
      if (auto lives = co_await keep_deleted(call, space, *before, commit); !lives)
        co_return lives.error();
    }
    kept = after.has_value();
  } else if (before && keep != Keep::kNothing && call.settings().blob_versioning) {
    if (auto version = co_await keep_version(call, space, *before, after, commit); !version)
      co_return version.error();
    kept = true;
  } else if (before && keep == Keep::kState) {
    auto soft = co_await keep_soft_deleted(call, space, *before, after, commit);
    if (!soft) co_return soft.error();
    kept = *soft;
    if (kept && !after) co_return wire::Result<void>();  // The head stays, as deleted.
  }
  // A version's id is its own once it is told, whatever the clock said when others got theirs.
  if (after && after->version.set() && (!before || before->version != after->version))
    commit.expect_absent(head_key(call, space, version_row(after->version)));
  const bool same_content = before && after && before->content.id == after->content.id;
  if (before && !kept && !same_content) {
    std::vector<Head> leaving;
    leaving.push_back({{}, nullptr, *before});
    const content::Place place{space, call.target.object};
    auto removed = co_await remove_heads(call.store(), place, leaving, commit);
    if (!removed) co_return service::storage_error(removed.error());
  }
  // The last write to a key wins.
  commit.put(head_key(call, space), after ? service::to_record(*after) : nullptr);
  co_return wire::Result<void>();
}

}  // namespace kyanite::blob
