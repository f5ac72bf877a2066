#include "queue/place.h"

#include <atomic>

#include "base/bytes.h"
#include "base/check.h"
#include "base/random.h"
#include "concurrency/guid.h"

namespace kyanite::queue {

namespace {

constexpr size_t kRowBytes = 3 * sizeof(uint64_t);

std::string row_of(const Position& position) {
  std::string row;
  row.reserve(kRowBytes);
  append_be64(row, static_cast<uint64_t>(position.visible.ticks));
  append_be64(row, position.id.high);
  append_be64(row, position.id.low);
  return row;
}

}  // namespace

MessageId MessageId::make(Time now) {
  static std::atomic<uint64_t> last{0};
  const auto wanted = static_cast<uint64_t>(now.ticks);
  uint64_t before = last.load();
  uint64_t stamp = 0;
  do {
    stamp = std::max(before + 1, wanted);
  } while (!last.compare_exchange_weak(before, stamp));
  // Version 6: sixty bits of time, most significant first.
  return {(stamp >> 12) << 16 | 0x6000 | (stamp & 0xfff), uint64_t{1} << 63 | (random_u64() >> 2)};
}

std::optional<MessageId> MessageId::parse(std::string_view text) {
  constexpr size_t kDashedLength = 36;
  if (text.size() != kDashedLength) return {};
  auto guid = concurrency::parse_guid(text);
  if (!guid) return {};
  std::erase(*guid, '-');
  const auto bytes = unhex(*guid);
  if (!bytes) return {};
  return MessageId{read_be64(bytes->data()), read_be64(bytes->data() + sizeof(uint64_t))};
}

std::string MessageId::text() const {
  std::string bytes;
  append_be64(bytes, high);
  append_be64(bytes, low);
  std::string text = hex(bytes);
  for (const size_t dash : {8u, 13u, 18u, 23u}) text.insert(dash, 1, '-');
  return text;
}

store::Key message_key(store::SpaceId space, const MessagePlace& place) {
  return store::Key(space, static_cast<store::Family>(place.lane), {}, row_of(place.position));
}

store::Range lane_range(store::SpaceId space, Lane lane, const Position& from) {
  auto range = store::Range::rows(space, static_cast<store::Family>(lane), {});
  range.start_at(message_key(space, {lane, from}).bytes());
  return range;
}

Position position_of(std::string_view key) {
  CHECK(key.size() >= kRowBytes);
  const char* row = key.data() + key.size() - kRowBytes;
  return {{static_cast<int64_t>(read_be64(row))},
          {read_be64(row + sizeof(uint64_t)), read_be64(row + 2 * sizeof(uint64_t))}};
}

store::Key text_key(store::SpaceId space, MessageId id) {
  return store::Key(space, kTexts, {}, row_of({{}, id}).substr(sizeof(uint64_t)));
}

}  // namespace kyanite::queue
