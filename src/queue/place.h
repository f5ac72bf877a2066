// Where a message stands in its queue. Its place says when it can be taken next, is the key of its
// record, and changes with every Get and Update.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "store/key.h"

namespace kyanite::queue {

// A GUID whose order is the order of creation.
struct MessageId {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const MessageId&) const = default;

  // Greater than every id this process made before, so that messages put at the same instant stay
  // in order.
  static MessageId make(Time now);
  static std::optional<MessageId> parse(std::string_view text);
  std::string text() const;
};

// Next visible first; the order in which messages are handed out.
struct Position {
  Time visible;
  MessageId id;
  auto operator<=>(const Position&) const = default;

  // Before everything and after everything.
  static Position first() { return {}; }
  static Position last() { return {{INT64_MAX}, {UINT64_MAX, UINT64_MAX}}; }
};

// Messages that nobody has taken yet wait in one lane, all others in the other. A busy queue leaves
// deleted records only behind the head of the first and all over the second, which is small enough
// to be in memory: so no one ever reads past them. docs/decisions/queue-index.md
enum class Lane : char {
  kReady = 'R',   // put, visible at once, never taken
  kHidden = 'H',  // put with a visibility time-out, taken or updated
};
inline constexpr Lane kLanes[] = {Lane::kReady, Lane::kHidden};

struct MessagePlace {
  Lane lane = Lane::kReady;
  Position position;
  bool operator==(const MessagePlace&) const = default;
};

// Families are the lanes' letters; all messages of a queue are in one partition of its space.
store::Key message_key(store::SpaceId space, const MessagePlace& place);
// Bounds of a scan: from this position to the end of the lane.
store::Range lane_range(store::SpaceId space, Lane lane, const Position& from);
// The position in a key that a scan of a lane returned.
Position position_of(std::string_view key);

// Where the text of a message is when it is too long for the message's own record.
inline constexpr store::Family kTexts = 'T';
store::Key text_key(store::SpaceId space, MessageId id);

}  // namespace kyanite::queue
