#include "queue/loader.h"

#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "queue/records.h"
#include "store/fields.h"

namespace kyanite::queue {

namespace {

// Half a window, so that there is room for messages that come back.
constexpr size_t kMessagesPerLoad = Window::kCapacity / 2;
// Bounds a load that meets nothing but expired messages.
constexpr size_t kMostExamined = 50'000;

struct Loaded {
  std::vector<Window::Known> found;
  Position until = Position::last();
  uint64_t passed = 0;  // Expired or damaged, hence of no use to anyone.
};

store::KeyedLocks::Locking one_at_a_time(const Messages& messages) {
  std::string key = "queue index ";
  append_be64(key, messages.space);
  return messages.occasion.locks().lock(std::move(key));
}

// Whether to go on behind this message.
store::Result<bool> look_at(const store::View::Cursor& cursor, Time now, Loaded& loaded) {
  const Position position = position_of(cursor.key());
  if (loaded.found.size() == kMessagesPerLoad ||
      loaded.found.size() + loaded.passed == kMostExamined) {
    loaded.until = position;
    return false;
  }
  const auto record = cursor.record();
  if (!record && record.error() != store::Error::kCorrupt) return record.error();
  const auto message =
      record ? store::decode<MessageExpiry>((*record)->value) : std::optional<MessageExpiry>();
  if (!message) log_error("queue: message " + position.id.text() + " is damaged, passed over");
  if (message && message->expires > now) {
    loaded.found.push_back({position, message->expires});
  } else {
    ++loaded.passed;
  }
  return true;
}

}  // namespace

Task<store::Result<void>> load_more(const Messages& messages, Index::Unknown unknown, Time now) {
  const auto turn = co_await one_at_a_time(messages);
  if (!messages.index->begin_load(unknown)) co_return store::Result<void>();
  Loaded loaded;
  const store::See see = [&](const store::View::Cursor& cursor) {
    return look_at(cursor, now, loaded);
  };
  auto scanned =
      co_await store::scan(messages.store(), lane_range(messages.space, unknown.lane, unknown.from),
                           see, messages.occasion.deadline);
  if (!scanned) {
    messages.index->abandon_load(unknown.lane);
    co_return scanned.error();
  }
  messages.index->finish_load(unknown.lane, loaded.found, loaded.until, loaded.passed);
  co_return store::Result<void>();
}

Task<store::Result<uint64_t>> count_messages(const Messages& messages, Time now) {
  if (const auto known = messages.index->count(now)) co_return *known;
  // Most queues are small and known as a whole after one load.
  for (const Lane lane : kLanes) {
    auto loaded = co_await load_more(messages, {lane, Position::first()}, now);
    if (!loaded) co_return loaded.error();
  }
  if (const auto known = messages.index->count(now)) co_return *known;

  const auto turn = co_await one_at_a_time(messages);
  uint64_t total = 0;
  for (const Lane lane : kLanes) {
    uint64_t beyond = 0;
    const store::See see = [&](const store::View::Cursor&) -> store::Result<bool> {
      ++beyond;
      return true;
    };
    auto counted = co_await store::scan(
        messages.store(), lane_range(messages.space, lane, messages.index->begin_count(lane)), see,
        messages.occasion.deadline);
    if (!counted) {
      messages.index->abandon_load(lane);
      co_return counted.error();
    }
    messages.index->finish_count(lane, beyond);
    total += beyond;
  }
  co_return messages.index->count(now).value_or(total);
}

}  // namespace kyanite::queue
