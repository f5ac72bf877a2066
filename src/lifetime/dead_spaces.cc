#include "lifetime/dead_spaces.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "lifetime/directory.h"
#include "service/storage.h"
#include "store/fields.h"

namespace kyanite::lifetime {

namespace {

constexpr uint64_t kRecordsPerStep = 1000;

Task<store::Result<std::vector<store::Entry>>> list_dead(store::Store& store, store::Range range) {
  std::vector<store::Entry> dead;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    auto record = cursor.record();
    if (!record) return record.error();
    dead.push_back({store::Key::from_bytes(std::string(cursor.key())), *record});
    return true;
  };
  auto listed = co_await store::scan(store, std::move(range), see);
  if (!listed) co_return listed.error();
  co_return std::move(dead);
}

}  // namespace

store::Write bury(std::string_view account, store::Family family, std::string_view owner,
                  store::SpaceId space, Time now) {
  std::string row;
  append_be64(row, space);
  return {store::Key(directory_space(account), family, owner, row),
          service::to_record(DeadSpace{space, now})};
}

Task<store::Result<Cleaned>> clean_dead_spaces(store::Store& store, std::string_view account,
                                               store::Family family, uint64_t most, Time now) {
  Cleaned cleaned;
  auto dead = co_await list_dead(store, store::Range::family(directory_space(account), family));
  if (!dead) co_return dead.error();
  for (const auto& entry : *dead) {
    const auto space = store::decode<DeadSpace>(entry.record->value);
    if (!space) co_return store::Error::kCorrupt;
    while (cleaned.records < most) {
      auto removed = co_await store.erase(store::Range::space(space->space),
                                          std::min(kRecordsPerStep, most - cleaned.records));
      if (!removed) co_return removed.error();
      cleaned.records += *removed;
      if (*removed == 0) break;
    }
    if (cleaned.records == most) break;
    if (now < after_seconds(space->deleted, kForgetAfterSeconds)) continue;
    store::Commit commit;
    commit.expect(entry.key, entry.record);
    commit.remove(entry.key);
    auto forgotten = co_await store.commit(std::move(commit));
    if (!forgotten) co_return forgotten.error();
    ++cleaned.spaces;
  }
  co_return cleaned;
}

}  // namespace kyanite::lifetime
