#include "content/graves.h"

#include <algorithm>
#include <vector>

#include "content/leaves.h"

namespace kyanite::content {

namespace {

// As many are looked for at once.
constexpr size_t kGravesPerLook = 64;

struct Due {
  store::Key key;
  store::RecordPtr record;
  Grave grave;
};

Task<store::Result<std::vector<Due>>> find_due(store::Store& store, store::SpaceId space,
                                               Time now) {
  std::vector<Due> due;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    auto record = cursor.record();
    if (!record) return record.error();
    const auto grave = store::decode<Grave>((*record)->value);
    if (!grave) return store::Error::kCorrupt;
    if (grave->due <= now)
      due.push_back({store::Key::from_bytes(std::string(cursor.key())), *record, *grave});
    return due.size() < kGravesPerLook;
  };
  auto listed = co_await store::scan(store, store::Range::family(space, kGraves), see);
  if (!listed) co_return listed.error();
  co_return std::move(due);
}

Task<store::Result<void>> replace(store::Store& store, const Due& due, store::RecordPtr next) {
  store::Commit commit;
  commit.expect(due.key, due.record);
  commit.put(due.key, std::move(next));
  co_return co_await store.commit(std::move(commit));
}

}  // namespace

store::Key grave_key(const Place& place, uint64_t content_id) {
  std::string row;
  append_be64(row, content_id);
  return store::Key(place.space, kGraves, place.partition, row);
}

store::RecordPtr to_record(const Grave& grave) {
  auto record = std::make_shared<store::Record>();
  record->value = store::encode(grave);
  return record;
}

Task<store::Result<void>> clear_graves(store::Store& store, store::SpaceId space, uint64_t most,
                                       Time now) {
  auto found = co_await find_due(store, space, now);
  if (!found) co_return found.error();
  uint64_t left = most;
  for (Due& due : *found) {
    if (due.grave.due.set()) {
      // From here on whoever dug it cannot name the content any more.
      due.grave.due = {};
      auto record = to_record(due.grave);
      auto closed = co_await replace(store, due, record);
      if (!closed && closed.error() == store::Error::kConflict) continue;
      if (!closed) co_return closed.error();
      due.record = std::move(record);
    }
    const std::string partition = due.key.partition();
    const Place place{space, partition};
    size_t removed = 1;
    while (left > 0 && removed > 0) {
      const auto portion = static_cast<size_t>(std::min<uint64_t>(left, kMaxLeavesPerCommit));
      auto erased = co_await store.erase(leaf_range(place, due.grave.content), portion);
      if (!erased) co_return erased.error();
      removed = *erased;
      left -= removed;
    }
    if (removed > 0) break;
    auto filled = co_await replace(store, due, nullptr);
    if (!filled && filled.error() != store::Error::kConflict) co_return filled.error();
  }
  co_return store::Result<void>();
}

}  // namespace kyanite::content
