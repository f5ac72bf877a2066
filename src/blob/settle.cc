// What becomes of a blob's former state: a version, a soft-deleted head, or nothing; and of content
// that no head names any more.
#include <set>
#include <vector>

#include "blob/blob.h"
#include "blob/blocks.h"

namespace kyanite::blob {

using service::Call;

namespace {

// Adds the removal of a content that no head names any more, with its block list.
Task<wire::Result<void>> remove_content(Call& call, store::SpaceId space, const Blob& blob,
                                        store::Commit& commit) {
  const content::Place place{space, call.target.object};
  auto removed = co_await content::remove(call.store(), commit, place, blob.content);
  if (!removed) co_return service::storage_error(removed.error());
  if (blob.type == BlobType::kBlock && blob.committed_blocks > 0) {
    commit.writes.push_back({block_list_key(space, call.target.object, blob.content.id), nullptr});
  }
  co_return wire::Result<void>();
}

// The contents that heads of this blob name once the commit is done.
Task<wire::Result<std::set<uint64_t>>> contents_left(Call& call, store::SpaceId space,
                                                     const store::Commit& commit) {
  std::set<std::string_view> leaving;
  for (const auto& write : commit.writes) {
    if (write.record == nullptr) leaving.insert(write.key.bytes());
  }
  std::set<uint64_t> left;
  auto looked = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(store::Range::rows(space, kHeads, call.target.object));
    for (; cursor->valid(); cursor->next()) {
      if (leaving.contains(cursor->key())) continue;
      auto record = cursor->record();
      if (!record) return record.error();
      const auto blob = store::decode<Blob>((*record)->value);
      if (!blob) return store::Error::kCorrupt;
      left.insert(blob->content.id);
    }
    return cursor->status();
  });
  if (!looked) co_return service::storage_error(looked.error());
  co_return std::move(left);
}

void put_head(Call& call, store::SpaceId space, std::string_view row, const Blob& blob,
              store::Commit& commit) {
  commit.writes.push_back({head_key(call, space, row), service::to_record(blob)});
}

// A former state has no lease of its own.
Blob former(const Blob& before, bool content_shared) {
  Blob blob = before;
  blob.lease = {};
  blob.content_shared = blob.content_shared || content_shared;
  return blob;
}

}  // namespace

Task<wire::Result<void>> remove_heads(Call& call, store::SpaceId space,
                                      const std::vector<Head>& heads, store::Commit& commit) {
  bool shared = false;
  for (const auto& head : heads) {
    commit.writes.push_back({head_key(call, space, head.row), nullptr});
    shared = shared || head.blob.content_shared;
  }
  std::set<uint64_t> left;
  if (shared) {
    auto looked = co_await contents_left(call, space, commit);
    if (!looked) co_return looked.error();
    left = std::move(*looked);
  }
  for (const auto& head : heads) {
    if (!left.insert(head.blob.content.id).second)
      continue;  // Still named, or removed a moment ago.
    if (auto removed = co_await remove_content(call, space, head.blob, commit); !removed)
      co_return removed.error();
  }
  co_return wire::Result<void>();
}

Task<wire::Result<void>> settle(Call& call, store::SpaceId space, Keep keep,
                                const std::optional<Blob>& before, std::optional<Blob> after,
                                store::Commit& commit) {
  const bool same_content = before && after && before->content.id == after->content.id;
  bool kept = false;
  if (before && before->deleted.set()) {
    // A new blob takes the name of a soft-deleted one, which lives on among the deleted snapshots.
    if (after) put_head(call, space, snapshot_row(before->deleted), former(*before, false), commit);
    kept = after.has_value();
  } else if (before && keep != Keep::kNothing && call.settings().blob_versioning) {
    const Time version = before->version.set() ? before->version : before->changed;
    Blob past = former(*before, same_content);
    past.version = version;
    put_head(call, space, version_row(version), past, commit);
    if (same_content) after->content_shared = true;
    kept = true;
  } else if (before && keep == Keep::kState) {
    auto properties = co_await service::load_properties(call);
    if (!properties) co_return properties.error();
    const auto& retention = properties->delete_retention;
    if (retention.enabled) {
      Blob past = former(*before, same_content);
      past.deleted = call.now;
      past.removal = after_seconds(call.now, int64_t{retention.days} * 24 * 3600);
      put_head(call, space, after ? snapshot_row(call.now) : std::string(), past, commit);
      if (same_content) after->content_shared = true;
      kept = true;
      if (!after) co_return wire::Result<void>();  // The head stays, as deleted.
    }
  }
  if (before && !kept && !same_content) {
    std::vector<Head> leaving;
    leaving.push_back({{}, nullptr, *before});
    if (auto removed = co_await remove_heads(call, space, leaving, commit); !removed)
      co_return removed.error();
  }
  // The last write to a key wins.
  commit.writes.push_back({head_key(call, space), after ? service::to_record(*after) : nullptr});
  co_return wire::Result<void>();
}

}  // namespace kyanite::blob
