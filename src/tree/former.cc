#include "tree/former.h"

#include <vector>

#include "base/bytes.h"
#include "content/content.h"
#include "store/fields.h"
#include "store/stored.h"
#include "tree/records.h"

namespace kyanite::tree {

namespace {

struct Former {
  store::Key key;
  store::RecordPtr record;
  Entry entry;
};

// The instant, in generations, at which a former state was replaced: the end of its row.
Generation until_of(const store::Key& key) {
  const auto row = key.row();
  return row.size() < 8 ? 0 : read_be64(row.data() + row.size() - 8);
}

// States that no snapshot shows, up to `most`.
Task<store::Result<std::vector<Former>>> list_unseen(store::Store& store, store::SpaceId space,
                                                     const ShareState& state, uint64_t most) {
  std::vector<Former> unseen;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    auto record = cursor.record();
    if (!record) return record.error();
    auto entry = store::decode<Entry>((*record)->value);
    if (!entry) return store::Error::kCorrupt;
    auto key = store::Key::from_bytes(std::string(cursor.key()));
    if (!state.shows(entry->generation, until_of(key)))
      unseen.push_back({std::move(key), *record, std::move(*entry)});
    return unseen.size() < most;
  };
  auto listed = co_await store::scan(store, store::Range::family(space, kFormer), see);
  if (!listed) co_return listed.error();
  co_return std::move(unseen);
}

}  // namespace

Task<store::Result<void>> purge_former(store::Store& store, store::SpaceId space, uint64_t most) {
  auto record = co_await store.get(state_key(space));
  if (!record) co_return record.error();
  if (*record == nullptr) co_return store::Result<void>();
  auto state = store::decode<ShareState>((*record)->value);
  if (!state) co_return store::Error::kCorrupt;
  if (!state->purge) co_return store::Result<void>();
  auto unseen = co_await list_unseen(store, space, *state, most);
  if (!unseen) co_return unseen.error();
  // Snapshots only come later than all former states, so what none shows none will ever show.
  for (const auto& former : *unseen) {
    store::Commit commit;
    commit.expect(former.key, former.record);
    commit.remove(former.key);
    auto removed =
        co_await content::remove(store, commit, {space, kSharePartition}, former.entry.content);
    if (!removed) co_return removed.error();
    auto done = co_await store.commit(std::move(commit));
    if (!done && done.error() != store::Error::kConflict) co_return done.error();
  }
  if (unseen->size() == most) co_return store::Result<void>();
  store::Commit commit;
  state->purge = false;
  commit.expect(state_key(space), *record);
  commit.put(state_key(space), store::to_record(*state));
  auto done = co_await store.commit(std::move(commit));
  if (!done && done.error() != store::Error::kConflict) co_return done.error();
  co_return store::Result<void>();
}

}  // namespace kyanite::tree
