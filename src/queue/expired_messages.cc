#include "queue/expired_messages.h"

#include <string>
#include <vector>

#include "jobs/walk.h"
#include "lifetime/spaces.h"
#include "queue/records.h"
#include "store/fields.h"

namespace kyanite::queue {

namespace {

// When all queues were looked at there is no hurry to look again.
constexpr int64_t kRestSeconds = 30;
// Looking costs less than removing, which waits for the disk.
constexpr jobs::Portion kBudget{.looks = 7'000, .changes = 5'000};
// messages
constexpr size_t kMostInCommit = 100;

// Both lanes in the order of their families; texts are removed with their messages.
std::vector<store::Range> all_messages(store::SpaceId space) {
  static_assert(Lane::kHidden < Lane::kReady);
  std::vector<store::Range> lanes;
  for (const Lane lane : {Lane::kHidden, Lane::kReady})
    lanes.push_back(store::Range::family(space, static_cast<store::Family>(lane)));
  return lanes;
}

MessagePlace place_of(const store::Key& key) {
  return {static_cast<Lane>(key.family()), position_of(key.bytes())};
}

// By one commit; by one for each when somebody changed one of them meanwhile.
Task<store::Result<void>> remove_all(jobs::Step& step, Indexes& indexes,
                                     const std::vector<store::Entry>& entries) {
  if (entries.empty()) co_return store::Result<void>();
  const store::SpaceId space = entries.front().key.space();
  store::Commit commit;
  for (const auto& entry : entries) {
    commit.expect(entry.key, entry.record);
    commit.remove(entry.key);
    const auto message = store::decode<Message>(entry.record->value);
    if (message && message->text_apart)
      commit.remove(text_key(space, position_of(entry.key.bytes()).id));
  }
  auto done = co_await step.store().commit(std::move(commit));
  if (done) {
    step.count_changes(entries.size());
    if (const auto index = indexes.find(space)) {
      for (const auto& entry : entries) index->removed(place_of(entry.key));
    }
    co_return done;
  }
  if (done.error() != store::Error::kConflict) co_return done;
  if (entries.size() == 1) co_return store::Result<void>();
  for (const auto& entry : entries) {
    const std::vector<store::Entry> alone(1, entry);
    auto removed = co_await remove_all(step, indexes, alone);
    if (!removed) co_return removed;
  }
  co_return store::Result<void>();
}

Task<store::Result<bool>> remove_expired(jobs::Step& step, Indexes& indexes, store::SpaceId space,
                                         std::string& key) {
  while (step.may_go_on()) {
    std::vector<store::Entry> expired;
    const jobs::See see = [&](const store::View&,
                              const store::View::Cursor& cursor) -> store::Result<bool> {
      auto record = cursor.record();
      if (!record) return record.error();
      const auto message = store::decode<MessageExpiry>((*record)->value);
      if (!message) return store::Error::kCorrupt;
      if (message->expires <= step.now())
        expired.push_back({store::Key::from_bytes(std::string(cursor.key())), *record});
      return expired.size() < kMostInCommit;
    };
    auto messages = all_messages(space);
    std::string next = key;
    auto at_end = co_await jobs::walk(step, std::move(messages), next, see);
    if (!at_end) co_return at_end;
    if (auto removed = co_await remove_all(step, indexes, expired); !removed)
      co_return removed.error();
    key = std::move(next);
    if (*at_end) co_return true;
  }
  co_return false;
}

}  // namespace

jobs::Job remove_expired_job(Indexes& indexes) {
  const lifetime::VisitSpace visit = [&indexes](jobs::Step& step, const std::string&,
                                                store::SpaceId space, std::string& key) {
    return remove_expired(step, indexes, space, key);
  };
  return {"expired-messages", kRestSeconds, kBudget, [visit](jobs::Step& step) {
            return lifetime::walk_spaces<Queue>(step, lifetime::kQueuesFamily, visit);
          }};
}

}  // namespace kyanite::queue
