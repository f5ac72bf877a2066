#include "blob/heads.h"

#include <map>
#include <set>

#include "blob/blocks.h"
#include "store/fields.h"

namespace kyanite::blob {

namespace {

// Adds the removal of a content that no head names any more, with its block list.
Task<store::Result<void>> remove_content(store::Store& store, content::Place place,
                                         const Blob& blob, store::Commit& commit) {
  if (blob.type == BlobType::kBlock && blob.committed_blocks > 0) {
    commit.writes.push_back({block_list_key(place, blob.content.id), nullptr});
  }
  // More may have been appended since another head shared the content.
  if (blob.content_shared)
    co_return co_await content::remove_all(store, commit, place, blob.content.id);
  co_return co_await content::remove(store, commit, place, blob.content);
}

// The contents that heads of this blob name once the commit is done, each with one that does.
using Named = std::map<uint64_t, store::Guard>;
Task<store::Result<Named>> contents_left(store::Store& store, const Place& place,
                                         const store::Commit& commit) {
  std::set<std::string_view> leaving;
  for (const auto& write : commit.writes) {
    if (write.record == nullptr) leaving.insert(write.key.bytes());
  }
  Named left;
  const auto add = [&](store::Key key, const store::RecordPtr& record) -> store::Result<void> {
    const auto blob = store::decode<Blob>(record->value);
    if (!blob) return store::Error::kCorrupt;
    left.try_emplace(blob->content.id, store::Guard{std::move(key), record});
    return {};
  };
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    if (leaving.contains(cursor.key())) return true;
    auto record = cursor.record();
    if (!record) return record.error();
    auto added = add(store::Key::from_bytes(std::string(cursor.key())), *record);
    if (!added) return added.error();
    return true;
  };
  if (auto looked = co_await store::scan(store, former_rows(place), see); !looked)
    co_return looked.error();
  if (!place.is_apart()) co_return std::move(left);  // The blob itself was among them.
  auto base_key = head_key(place);
  if (leaving.contains(base_key.bytes())) co_return std::move(left);
  auto base = co_await store.get(base_key);
  if (!base) co_return base.error();
  if (*base == nullptr) co_return std::move(left);
  if (auto added = add(std::move(base_key), *base); !added) co_return added.error();
  co_return std::move(left);
}

}  // namespace

store::Key head_key(const Place& place, std::string_view row) {
  return store::Key(place.space(), kHeads, row.empty() ? place.named() : place.own(), row);
}

store::Range former_rows(const Place& place, std::string_view row) {
  return store::Range::rows(place.space(), kHeads, place.own(), row);
}

Task<store::Result<void>> remove_heads(store::Store& store, const Place& place,
                                       const std::vector<Head>& heads, store::Commit& commit) {
  bool shared = false;
  for (const auto& head : heads) {
    commit.remove(head_key(place, head.row));
    shared = shared || head.blob.content_shared;
  }
  Named left;
  if (shared) {
    auto looked = co_await contents_left(store, place, commit);
    if (!looked) co_return looked.error();
    left = std::move(*looked);
  }
  std::set<uint64_t> seen;
  for (const auto& head : heads) {
    if (!seen.insert(head.blob.content.id).second) continue;
    // Were the other head to go at the same time, neither would take the content along.
    if (auto named = left.find(head.blob.content.id); named != left.end()) {
      commit.guards.push_back(named->second);
      continue;
    }
    if (auto removed = co_await remove_content(store, place.content(), head.blob, commit); !removed)
      co_return removed.error();
  }
  co_return store::Result<void>();
}

}  // namespace kyanite::blob
