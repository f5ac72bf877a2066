#include "lifetime/dead_spaces.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "jobs/walk.h"
#include "lifetime/directory.h"
#include "service/storage.h"
#include "store/fields.h"

namespace kyanite::lifetime {

namespace {

constexpr uint64_t kRecordsPerErase = 1000;
constexpr uint64_t kRecordsPerStep = 10'000;
constexpr int64_t kRestSeconds = 5;

// False: the space has records left.
Task<store::Result<bool>> empty_space(jobs::Step& step, store::SpaceId space) {
  while (step.changes_left() > 0) {
    const auto portion = std::min(kRecordsPerErase, step.changes_left());
    auto removed = co_await step.store().erase(store::Range::space(space), portion);
    if (!removed) co_return removed.error();
    if (*removed == 0) co_return true;
    step.count_changes(*removed);
    if (!step.in_time()) break;
  }
  co_return false;
}

Task<store::Result<bool>> clean_spaces(jobs::Step& step, store::Family family, Forget forget,
                                       Close close) {
  std::vector<std::pair<store::Entry, DeadSpace>> dead;
  const jobs::See see = [&](const store::View&,
                            const store::View::Cursor& cursor) -> store::Result<bool> {
    auto record = cursor.record();
    if (!record) return record.error();
    const auto space = store::decode<DeadSpace>((*record)->value);
    if (!space) return store::Error::kCorrupt;
    dead.push_back({{store::Key::from_bytes(std::string(cursor.key())), *record}, *space});
    return true;
  };
  std::string next = step.cursor;
  std::vector<store::Range> ranges(1,
                                   store::Range::family(directory_space(step.account()), family));
  auto at_end = co_await jobs::walk(step, std::move(ranges), next, see);
  if (!at_end) co_return at_end;
  for (const auto& [entry, space] : dead) {
    if (close != nullptr) close(space.space);
    auto emptied = co_await empty_space(step, space.space);
    if (!emptied || !*emptied) co_return emptied;
    if (forget != nullptr) {
      if (auto done = co_await forget(step, space.space); !done) co_return done.error();
    }
    if (after_seconds(space.deleted, kForgetAfterSeconds) <= step.now()) {
      store::Commit commit;
      commit.expect(entry.key, entry.record);
      commit.remove(entry.key);
      if (auto forgotten = co_await step.store().commit(std::move(commit)); !forgotten)
        co_return forgotten.error();
      step.count_changes();
    }
    step.cursor = entry.key.bytes() + '\0';
    if (!step.in_time()) co_return false;
  }
  step.cursor = std::move(next);
  co_return at_end;
}

}  // namespace

store::Write bury(std::string_view account, store::Family family, std::string_view owner,
                  store::SpaceId space, Time now) {
  std::string row;
  append_be64(row, space);
  return {store::Key(directory_space(account), family, owner, row),
          service::to_record(DeadSpace{space, now})};
}

jobs::Job clean_spaces_job(std::string name, store::Family family, Forget forget, Close close) {
  return {std::move(name),
          kRestSeconds,
          {.changes = kRecordsPerStep},
          [family, forget = std::move(forget), close = std::move(close)](jobs::Step& step) {
            return clean_spaces(step, family, forget, close);
          }};
}

}  // namespace kyanite::lifetime
