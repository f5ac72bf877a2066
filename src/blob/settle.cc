// What becomes of a blob's former state: a version, a soft-deleted head, or nothing; and of content
// that no head names any more.
#include <vector>

#include "blob/blob.h"
#include "blob/heads.h"

namespace kyanite::blob {

using service::Call;

namespace {

void put_head(Call& call, store::SpaceId space, std::string_view row, const Blob& blob,
              store::Commit& commit) {
  commit.writes.push_back({head_key(call, space, row), service::to_record(blob)});
}

// A former state has no lease of its own.
Blob former(const Blob& before) {
  Blob blob = before;
  blob.lease = {};
  return blob;
}

// Two heads of one content: both name it, unless it is written in place. Then the former state gets
// a list of pieces of its own. The commit's first guard is that of the head.
Task<wire::Result<void>> part(Call& call, store::SpaceId space, Blob& past, Blob& after,
                              store::Commit& commit) {
  if (!past.content.sparse) {
    past.content_shared = after.content_shared = true;
    co_return wire::Result<void>();
  }
  const content::Place place{space, call.target.object};
  const store::Guard head = commit.guards.front();
  auto copied = co_await content::copy(call.store(), commit, place, past.content, place, head);
  if (!copied) co_return service::storage_error(copied.error());
  past.content = *copied;
  co_return wire::Result<void>();
}

}  // namespace

Task<wire::Result<void>> settle(Call& call, store::SpaceId space, Keep keep,
                                const std::optional<Blob>& before, std::optional<Blob> after,
                                store::Commit& commit) {
  const bool same_content = before && after && before->content.id == after->content.id;
  bool kept = false;
  if (before && before->deleted.set()) {
    // A new blob takes the name of a soft-deleted one, which lives on among the deleted snapshots.
    if (after) put_head(call, space, snapshot_row(before->deleted), former(*before), commit);
    kept = after.has_value();
  } else if (before && keep != Keep::kNothing && call.settings().blob_versioning) {
    const Time version = before->version.set() ? before->version : before->changed;
    Blob past = former(*before);
    past.version = version;
    if (same_content) {
      if (auto parted = co_await part(call, space, past, *after, commit); !parted)
        co_return parted.error();
    }
    put_head(call, space, version_row(version), past, commit);
    kept = true;
  } else if (before && keep == Keep::kState) {
    auto properties = co_await service::load_properties(call);
    if (!properties) co_return properties.error();
    const auto& retention = (*properties)->delete_retention;
    if (retention.enabled) {
      Blob past = former(*before);
      if (same_content) {
        if (auto parted = co_await part(call, space, past, *after, commit); !parted)
          co_return parted.error();
      }
      past.deleted = call.now;
      past.removal = after_seconds(call.now, int64_t{retention.days} * 24 * 3600);
      put_head(call, space, after ? snapshot_row(call.now) : std::string(), past, commit);
      kept = true;
      if (!after) co_return wire::Result<void>();  // The head stays, as deleted.
    }
  }
  if (before && !kept && !same_content) {
    std::vector<Head> leaving;
    leaving.push_back({{}, nullptr, *before});
    const content::Place place{space, call.target.object};
    auto removed = co_await remove_heads(call.store(), place, leaving, commit);
    if (!removed) co_return service::storage_error(removed.error());
  }
  // The last write to a key wins.
  commit.writes.push_back({head_key(call, space), after ? service::to_record(*after) : nullptr});
  co_return wire::Result<void>();
}

}  // namespace kyanite::blob
