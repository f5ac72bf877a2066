#include "queue/sweeper.h"

#include "lifetime/directory.h"
#include "queue/records.h"
#include "store/fields.h"

namespace kyanite::queue {

namespace {

// messages
constexpr size_t kMostInCommit = 100;

// Both lanes; texts, whose family sorts after them, are removed with their messages.
store::Range all_messages(store::SpaceId space) {
  const auto hidden = store::Range::family(space, static_cast<store::Family>(Lane::kHidden));
  const auto ready = store::Range::family(space, static_cast<store::Family>(Lane::kReady));
  return {hidden.from, ready.to};
}

Place place_of(const store::Key& key) {
  return {static_cast<Lane>(key.family()), position_of(key.bytes())};
}

}  // namespace

// Expired messages and where to go on after them.
struct Sweeper::Step {
  std::vector<store::Entry> expired;
  uint64_t looked_at = 0;
  std::string next;  // Empty at the end of the queue.
};

Task<store::Result<bool>> Sweeper::next_queue(store::Store& store, const auth::Accounts& accounts) {
  for (auto account = accounts.all().lower_bound(account_); account != accounts.all().end();
       ++account) {
    if (account->first != account_) {
      account_ = account->first;
      queue_.clear();
    }
    const auto directory = lifetime::directory_space(account_);
    auto range = store::Range::family(directory, lifetime::kQueuesFamily);
    if (!queue_.empty())
      range.from = store::after_partition(directory, lifetime::kQueuesFamily, queue_);
    bool found = false;
    auto looked = co_await store.read([&](const store::View& view) -> store::Result<void> {
      auto cursor = view.scan(range);
      if (!cursor->valid()) return cursor->status();
      auto record = cursor->record();
      if (!record) return record.error();
      const auto queue = store::decode<Queue>((*record)->value);
      if (!queue) return store::Error::kCorrupt;
      queue_ = store::Key::from_bytes(std::string(cursor->key())).partition();
      space_ = queue->space;
      rest_ = all_messages(space_);
      found = true;
      return {};
    });
    if (!looked) co_return looked.error();
    if (found) co_return true;
  }
  account_.clear();
  queue_.clear();
  co_return false;
}

Task<store::Result<void>> Sweeper::sweep_some(store::Store& store, Time now, Swept& swept) {
  Step step;
  auto looked = co_await store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(rest_);
    for (; cursor->valid(); cursor->next()) {
      const auto key = store::Key::from_bytes(std::string(cursor->key()));
      if (step.expired.size() == kMostInCommit ||
          swept.looked_at + step.looked_at >= kMostLookedAt) {
        step.next = key.bytes();
        return {};
      }
      auto record = cursor->record();
      if (!record && record.error() != store::Error::kCorrupt) return record.error();
      if (!record) continue;
      const auto message = store::decode<MessageExpiry>((*record)->value);
      if (message && message->expires <= now) {
        step.expired.push_back({key, std::move(*record)});
      } else {
        ++step.looked_at;
      }
    }
    return cursor->status();
  });
  if (!looked) co_return looked.error();

  auto removed = co_await remove_all(store, step.expired);
  if (!removed) co_return removed.error();
  swept.looked_at += step.looked_at;
  swept.removed += step.expired.size();
  rest_.from = step.next;
  if (step.next.empty()) space_ = 0;
  co_return store::Result<void>();
}

// By one commit; by one for each when somebody changed one of them meanwhile.
Task<store::Result<void>> Sweeper::remove_all(store::Store& store,
                                              const std::vector<store::Entry>& entries) {
  if (entries.empty()) co_return store::Result<void>();
  store::Commit commit;
  for (const auto& entry : entries) {
    commit.expect(entry.key, entry.record);
    commit.remove(entry.key);
    const auto message = store::decode<Message>(entry.record->value);
    if (message && message->text_apart)
      commit.remove(text_key(space_, position_of(entry.key.bytes()).id));
  }
  auto done = co_await store.commit(std::move(commit));
  if (done) {
    if (const auto index = indexes_.find(space_)) {
      for (const auto& entry : entries) index->removed(place_of(entry.key));
    }
    co_return done;
  }
  if (done.error() != store::Error::kConflict) co_return done;
  if (entries.size() == 1) co_return store::Result<void>();
  for (const auto& entry : entries) {
    const std::vector<store::Entry> alone(1, entry);
    auto removed = co_await remove_all(store, alone);
    if (!removed) co_return removed;
  }
  co_return store::Result<void>();
}

Task<store::Result<Sweeper::Swept>> Sweeper::sweep(store::Store& store,
                                                   const auth::Accounts& accounts, Time now) {
  Swept swept;
  while (swept.looked_at < kMostLookedAt && swept.removed < kMostRemoved) {
    if (space_ == 0) {
      auto found = co_await next_queue(store, accounts);
      if (!found) co_return found.error();
      swept.around = !*found;
      if (!*found) break;
      ++swept.looked_at;  // Empty queues cost something as well.
    }
    auto some = co_await sweep_some(store, now, swept);
    if (!some) {
      space_ = 0;
      co_return some.error();
    }
  }
  co_return swept;
}

}  // namespace kyanite::queue
