#include "blob/cleaner.h"

#include <algorithm>
#include <vector>

#include "blob/records.h"
#include "service/directory.h"
#include "store/fields.h"

namespace kyanite::blob {

namespace {

constexpr uint64_t kRecordsPerStep = 1000;

Task<store::Result<std::vector<store::Entry>>> list_dead(store::Store& store,
                                                         const auth::Account& account) {
  const auto range =
      store::Range::family(service::directory_space(account.name), service::kDeadContainersFamily);
  std::vector<store::Entry> dead;
  auto listed = co_await store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    for (; cursor->valid(); cursor->next()) {
      auto record = cursor->record();
      if (!record) return record.error();
      dead.push_back({store::Key::from_bytes(std::string(cursor->key())), *record});
    }
    return cursor->status();
  });
  if (!listed) co_return listed.error();
  co_return std::move(dead);
}

}  // namespace

Task<store::Result<Cleaned>> clean_dead_containers(store::Store& store,
                                                   const auth::Account& account, uint64_t most,
                                                   Time now) {
  Cleaned cleaned;
  auto dead = co_await list_dead(store, account);
  if (!dead) co_return dead.error();
  for (const auto& entry : *dead) {
    const auto container = store::decode<DeadContainer>(entry.record->value);
    if (!container) co_return store::Error::kCorrupt;
    while (cleaned.records < most) {
      auto removed = co_await store.erase(store::Range::space(container->space),
                                          std::min(kRecordsPerStep, most - cleaned.records));
      if (!removed) co_return removed.error();
      cleaned.records += *removed;
      if (*removed == 0) break;
    }
    if (cleaned.records == most) break;
    if (now < after_seconds(container->deleted, kForgetAfterSeconds)) continue;
    store::Commit commit;
    commit.guards.push_back({entry.key, entry.record});
    commit.writes.push_back({entry.key, nullptr});
    auto forgotten = co_await store.commit(std::move(commit));
    if (!forgotten) co_return forgotten.error();
    ++cleaned.containers;
  }
  co_return cleaned;
}

}  // namespace kyanite::blob
