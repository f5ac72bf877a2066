#include "queue/messages.h"

#include <algorithm>

#include "base/log.h"
#include "base/random.h"
#include "service/storage.h"

namespace kyanite::queue {

using service::storage_error;
using service::to_record;

namespace {

// Messages claimed in the index; what was not moved or removed by the end is everyone's again.
class Claims {
 public:
  explicit Claims(Index& index) : index_(index) {}
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;
  ~Claims() {
    for (const MessagePlace& place : places_) index_.unclaim(place);
  }

  // Claims up to `most` altogether. Something to load when that is needed to go on.
  std::optional<Index::Unknown> fill(Time now, size_t most) {
    const auto more = index_.claim(now, most - places_.size());
    places_.insert(places_.end(), more.places.begin(), more.places.end());
    return more.unknown;
  }
  // The store has no such message, or none that can be read.
  void drop(const MessagePlace& place) {
    index_.removed(place);
    std::erase(places_, place);
  }
  void moved(size_t which, const MessagePlace& to, Time expires) {
    index_.moved(places_[which], to, expires);
  }
  void release() { places_.clear(); }
  const std::vector<MessagePlace>& places() const { return places_; }

 private:
  Index& index_;
  std::vector<MessagePlace> places_;
};

// Puts the message's record and, when it is long, its text beside it into the commit.
void add_message(store::Commit& commit, store::SpaceId space, const Standing& standing,
                 bool write_text) {
  Message stored = standing.message;
  if (stored.text_apart) {
    if (write_text) {
      auto text = std::make_shared<store::SharedRecord>();
      text->value = std::move(stored.text);
      commit.put(text_key(space, standing.place.position.id), std::move(text));
    }
    stored.text.clear();
  }
  commit.put(message_key(space, standing.place), to_record(stored));
}

void set_text(Message& message, std::string text) {
  message.text_apart = text.size() > kMaxInlineText;
  message.text = std::move(text);
}

// Read, decide, commit on messages. When a commit fails, nobody knows what was written, and the
// index has to be read again. `decide` may be called again after a conflict.
template <class T, class Decide>
Task<wire::Result<T>> change(const Messages& messages, Decide decide) {
  bool committing = false;
  auto noting = [&](store::Attempt& attempt) -> Task<wire::Result<T>> {
    committing = false;
    wire::Result<T> decided = co_await decide(attempt);
    committing = decided.ok();
    co_return std::move(decided);
  };
  auto changed = co_await store::transact(messages.occasion, noting);
  if (!changed && committing) messages.index->forget();
  co_return std::move(changed);
}

// The messages at these places with their records; those that are not there any more are dropped.
struct ClaimedMessage {
  Standing standing;
  store::RecordPtr record;
};
Task<store::Result<std::vector<ClaimedMessage>>> read_claimed(const Messages& messages,
                                                              Claims& claims, Time now) {
  std::vector<ClaimedMessage> found;
  const std::vector<MessagePlace> places = claims.places();
  for (const MessagePlace& place : places) {
    auto record = co_await messages.store().get(message_key(messages.space, place));
    if (!record && record.error() != store::Error::kCorrupt) co_return record.error();
    auto message = record && *record ? store::decode<Message>((*record)->value) : std::nullopt;
    if (message && message->text_apart) {
      auto text = co_await messages.store().get(text_key(messages.space, place.position.id));
      if (!text && text.error() != store::Error::kCorrupt) co_return text.error();
      if (text && *text) {
        message->text = (*text)->value;
      } else {
        message.reset();
      }
    }
    if (!message && !(record && *record == nullptr))
      log_error("queue: message " + place.position.id.text() + " is damaged, passed over");
    if (!message || message->expired(now)) {
      claims.drop(place);
      continue;
    }
    found.push_back({{place, std::move(*message)}, std::move(*record)});
  }
  co_return found;
}

// Hides the messages.
std::vector<Standing> hide(store::SpaceId space, std::vector<ClaimedMessage> found, Time visible,
                           store::Commit& commit) {
  std::vector<Standing> taken;
  for (ClaimedMessage& each : found) {
    const auto old_key = message_key(space, each.standing.place);
    commit.expect(old_key, std::move(each.record));
    commit.remove(old_key);
    Standing& standing = taken.emplace_back(std::move(each.standing));
    standing.place = {Lane::kHidden, {visible, standing.place.position.id}};
    standing.message.dequeue_count += 1;
    standing.message.receipt = random_u64();
    add_message(commit, space, standing, false);
  }
  return taken;
}

wire::Error message_not_found() { return wire::Code::kMessageNotFound; }

// The message that the ticket names, if its receipt is still good.
Task<wire::Result<ClaimedMessage>> find_claimed(const Messages& messages, const Ticket& ticket,
                                                Time now) {
  const MessagePlace place{ticket.receipt.lane, {ticket.receipt.visible, ticket.id}};
  auto record = co_await messages.store().get(message_key(messages.space, place));
  if (!record) co_return storage_error(record.error());
  if (*record == nullptr) co_return message_not_found();
  auto message = store::decode<Message>((*record)->value);
  if (!message) co_return storage_error(store::Error::kCorrupt);
  if (message->receipt != ticket.receipt.number || message->expired(now))
    co_return message_not_found();
  co_return ClaimedMessage{{place, std::move(*message)}, std::move(*record)};
}

// Puts `after` in the place of `before`.
void replace(store::SpaceId space, const ClaimedMessage& before, const Standing& after,
             bool new_text, store::Commit& commit) {
  const auto old_key = message_key(space, before.standing.place);
  commit.expect(old_key, before.record);
  commit.remove(old_key);
  if (before.standing.message.text_apart && !after.message.text_apart) {
    commit.remove(text_key(space, after.place.position.id));
  }
  add_message(commit, space, after, new_text);
}

int64_t seconds_until(Time now, Time then) { return (then.ticks - now.ticks) / kTicksPerSecond; }

}  // namespace

Task<wire::Result<Standing>> put(const Messages& messages, std::string text, Time now,
                                 int64_t visibility_s, Time expires) {
  Standing standing;
  standing.place.lane = visibility_s == 0 ? Lane::kReady : Lane::kHidden;
  standing.place.position = {after_seconds(now, visibility_s), MessageId::make(now)};
  standing.message.inserted = now;
  standing.message.expires = expires;
  standing.message.receipt = random_u64();
  set_text(standing.message, std::move(text));
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
    add_message(attempt.commit, messages.space, standing, true);
    co_return wire::Result<void>();
  };
  if (auto done = co_await change<void>(messages, decide); !done) co_return done.error();
  messages.index->added(standing.place, expires);
  co_return standing;
}

Task<wire::Result<std::vector<Standing>>> take(const Messages& messages, Time now,
                                               int64_t visibility_s, size_t most) {
  Claims claims(*messages.index);
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<std::vector<Standing>>> {
    while (auto unknown = claims.fill(now, most)) {
      auto loaded = co_await load_more(messages, *unknown, now);
      if (!loaded) co_return storage_error(loaded.error());
    }
    if (claims.places().empty()) co_return std::vector<Standing>();
    if (auto low = messages.index->running_low(now)) {
      auto loaded = co_await load_more(messages, *low, now);
      if (!loaded) co_return storage_error(loaded.error());
    }
    auto found = co_await read_claimed(messages, claims, now);
    if (!found) co_return storage_error(found.error());
    if (found->empty()) co_return service::decide_again();
    const Time visible = after_seconds(now, visibility_s);
    co_return hide(messages.space, std::move(*found), visible, attempt.commit);
  };
  auto taken = co_await change<std::vector<Standing>>(messages, decide);
  if (!taken) co_return taken.error();
  for (size_t i = 0; i < taken->size(); ++i)
    claims.moved(i, (*taken)[i].place, (*taken)[i].message.expires);
  claims.release();
  co_return std::move(*taken);
}

Task<wire::Result<std::vector<Standing>>> peek(const Messages& messages, Time now, size_t most) {
  auto visible = messages.index->peek(now, most);
  while (visible.unknown) {
    auto loaded = co_await load_more(messages, *visible.unknown, now);
    if (!loaded) co_return storage_error(loaded.error());
    visible = messages.index->peek(now, most);
  }
  std::vector<Standing> seen;
  auto look = [&](const store::View& view) -> store::Result<void> {
    for (const MessagePlace& place : visible.places) {
      auto record = view.get(message_key(messages.space, place));
      if (!record && record.error() != store::Error::kCorrupt) return record.error();
      if (!record || *record == nullptr) continue;  // Damaged, or taken a moment ago.
      auto message = store::decode<Message>((*record)->value);
      if (!message) continue;
      if (message->text_apart) {
        auto text = view.get(text_key(messages.space, place.position.id));
        if (!text && text.error() != store::Error::kCorrupt) return text.error();
        if (!text || *text == nullptr) continue;
        message->text = (*text)->value;
      }
      seen.push_back({place, std::move(*message)});
    }
    return {};
  };
  if (visible.places.empty()) co_return seen;
  auto looked = co_await messages.store().look(look);
  if (!looked) co_return storage_error(looked.error());
  co_return seen;
}

Task<wire::Result<Standing>> update(const Messages& messages, Ticket ticket, Time now,
                                    int64_t visibility_s, std::optional<std::string> text) {
  using Moved = std::pair<MessagePlace, Standing>;
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<Moved>> {
    auto before = co_await find_claimed(messages, ticket, now);
    if (!before) co_return before.error();
    Standing after = before->standing;
    after.place = {Lane::kHidden, {after_seconds(now, visibility_s), ticket.id}};
    if (after.place.position.visible > after.message.expires) {
      const auto most = std::to_string(seconds_until(now, after.message.expires));
      co_return wire::out_of_range_query("visibilitytimeout", std::to_string(visibility_s), "0",
                                         most);
    }
    after.message.receipt = random_u64();
    if (text) set_text(after.message, *text);
    replace(messages.space, *before, after, text.has_value(), attempt.commit);
    co_return Moved(before->standing.place, std::move(after));
  };
  auto moved = co_await change<Moved>(messages, decide);
  if (!moved) co_return moved.error();
  auto& [before, after] = *moved;
  messages.index->moved(before, after.place, after.message.expires);
  co_return std::move(after);
}

Task<wire::Result<void>> discard(const Messages& messages, Ticket ticket, Time now) {
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<MessagePlace>> {
    auto found = co_await find_claimed(messages, ticket, now);
    if (!found) co_return found.error();
    const MessagePlace& place = found->standing.place;
    const auto key = message_key(messages.space, place);
    store::Commit& commit = attempt.commit;
    commit.expect(key, found->record);
    commit.remove(key);
    if (found->standing.message.text_apart) commit.remove(text_key(messages.space, ticket.id));
    co_return place;
  };
  auto place = co_await change<MessagePlace>(messages, decide);
  if (!place) co_return place.error();
  messages.index->removed(*place);
  co_return wire::Result<void>();
}

Task<store::Result<bool>> is_near_front(const Messages& messages, MessageId id) {
  constexpr size_t kLooked = 1024;  // of a lane
  bool found = false;
  auto done = co_await messages.store().look([&](const store::View& view) -> store::Result<void> {
    for (const Lane lane : kLanes) {
      auto cursor = view.scan(lane_range(messages.space, lane, Position::first()));
      for (size_t i = 0; i < kLooked && cursor->valid() && !found; ++i, cursor->next())
        found = position_of(cursor->key()).id == id;
      if (auto status = cursor->status(); !status) return status;
    }
    return {};
  });
  if (!done) co_return done.error();
  co_return found;
}

}  // namespace kyanite::queue
