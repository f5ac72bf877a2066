#include "content/graves.h"

#include <algorithm>
#include <vector>

#include "content/leaves.h"
#include "jobs/walk.h"

namespace kyanite::content {

namespace {

// As many are found at once.
constexpr size_t kGravesTogether = 64;

struct Due {
  store::Key key;
  store::RecordPtr record;
  Grave grave;
};

store::Result<void> judge(const store::View::Cursor& cursor, Time now, std::vector<Due>& due) {
  auto record = cursor.record();
  if (!record) return record.error();
  const auto grave = store::decode<Grave>((*record)->value);
  if (!grave) return store::Error::kCorrupt;
  if (grave->due <= now)
    due.push_back({store::Key::from_bytes(std::string(cursor.key())), *record, *grave});
  return {};
}

Task<store::Result<void>> replace(store::Store& store, const Due& due, store::RecordPtr next) {
  store::Commit commit;
  commit.expect(due.key, due.record);
  commit.put(due.key, std::move(next));
  co_return co_await store.commit(std::move(commit));
}

// False: there are leaves left.
Task<store::Result<bool>> clear(jobs::Step& step, Due& due) {
  if (due.grave.due.set()) {
    // From here on whoever dug it cannot name the content any more.
    due.grave.due = {};
    auto record = to_record(due.grave);
    auto closed = co_await replace(step.store(), due, record);
    if (!closed && closed.error() == store::Error::kConflict) co_return true;
    if (!closed) co_return closed.error();
    due.record = std::move(record);
  }
  const std::string partition = due.key.partition();
  const auto leaves = leaf_range({due.key.space(), partition}, due.grave.content);
  size_t removed = 1;
  while (removed > 0) {
    if (step.changes_left() == 0) co_return false;
    const auto portion = std::min<uint64_t>(step.changes_left(), kMaxLeavesPerCommit);
    auto erased = co_await step.store().erase(leaves, static_cast<size_t>(portion));
    if (!erased) co_return erased.error();
    removed = *erased;
    step.count_changes(removed);
    if (removed > 0 && !step.in_time()) co_return false;
  }
  auto filled = co_await replace(step.store(), due, nullptr);
  if (!filled && filled.error() != store::Error::kConflict) co_return filled.error();
  co_return true;
}

}  // namespace

store::Key grave_key(const Place& place, uint64_t content_id) {
  std::string row;
  append_be64(row, content_id);
  return store::Key(place.space, kGraves, place.partition, row);
}

store::RecordPtr to_record(const Grave& grave) {
  auto record = std::make_shared<store::SharedRecord>();
  record->value = store::encode(grave);
  return record;
}

Task<store::Result<bool>> clear_graves(jobs::Step& step, store::SpaceId space, std::string& key) {
  std::vector<Due> found;
  const jobs::See see = [&](const store::View&,
                            const store::View::Cursor& cursor) -> store::Result<bool> {
    if (auto judged = judge(cursor, step.now(), found); !judged) return judged.error();
    return found.size() < kGravesTogether;
  };
  std::string next = key;
  std::vector<store::Range> graves(1, store::Range::family(space, kGraves));
  auto at_end = co_await jobs::walk(step, std::move(graves), next, see);
  if (!at_end) co_return at_end;
  for (Due& due : found) {
    auto cleared = co_await clear(step, due);
    if (!cleared || !*cleared) co_return cleared;
  }
  key = std::move(next);
  co_return at_end;
}

}  // namespace kyanite::content
