#include "blob/heads.h"

#include <map>
#include <set>

#include "blob/blocks.h"
#include "store/fields.h"

namespace kyanite::blob {

namespace {

// Adds the removal of a content that no head names any more, with its block list.
Task<store::Result<void>> remove_content(store::Store& store, const content::Place& place,
                                         const Blob& blob, store::Commit& commit) {
  if (blob.type == BlobType::kBlock && blob.committed_blocks > 0) {
    commit.writes.push_back(
        {block_list_key(place.space, place.partition, blob.content.id), nullptr});
  }
  // More may have been appended since another head shared the content.
  if (blob.content_shared)
    co_return co_await content::remove_all(store, commit, place, blob.content.id);
  co_return co_await content::remove(store, commit, place, blob.content);
}

// The contents that heads of this blob name once the commit is done, each with one that does.
using Named = std::map<uint64_t, store::Guard>;
Task<store::Result<Named>> contents_left(store::Store& store, const content::Place& place,
                                         const store::Commit& commit) {
  std::set<std::string_view> leaving;
  for (const auto& write : commit.writes) {
    if (write.record == nullptr) leaving.insert(write.key.bytes());
  }
  Named left;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    if (leaving.contains(cursor.key())) return true;
    auto record = cursor.record();
    if (!record) return record.error();
    const auto blob = store::decode<Blob>((*record)->value);
    if (!blob) return store::Error::kCorrupt;
    auto key = store::Key::from_bytes(std::string(cursor.key()));
    left.try_emplace(blob->content.id, store::Guard{std::move(key), *record});
    return true;
  };
  auto looked =
      co_await store::scan(store, store::Range::rows(place.space, kHeads, place.partition), see);
  if (!looked) co_return looked.error();
  co_return std::move(left);
}

}  // namespace

store::Key head_key(const content::Place& place, std::string_view row) {
  return store::Key(place.space, kHeads, place.partition, row);
}

Task<store::Result<void>> remove_heads(store::Store& store, const content::Place& place,
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
    if (auto removed = co_await remove_content(store, place, head.blob, commit); !removed)
      co_return removed.error();
  }
  co_return store::Result<void>();
}

}  // namespace kyanite::blob
