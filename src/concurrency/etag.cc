#include "concurrency/etag.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"

namespace kyanite::concurrency {

namespace {
// The eight hexadecimal digits of a number, all at once: its bits are spread over eight bytes, to
// each of which '0' is added, or what leads to 'A' where it is above nine.
uint64_t hex_digits(uint32_t number) {
  uint64_t digits = number;
  digits = (digits | digits << 16) & 0x0000ffff0000ffff;
  digits = (digits | digits << 8) & 0x00ff00ff00ff00ff;
  digits = (digits | digits << 4) & 0x0f0f0f0f0f0f0f0f;
  const uint64_t above_nine = (digits + 0x0606060606060606) >> 4 & 0x0101010101010101;
  return digits + 0x3030303030303030 + above_nine * ('A' - '0' - 10);
}
}  // namespace

ETagText ETag::unquoted() const {
  CHECK(changed.ticks > 0);
  const auto ticks = static_cast<uint64_t>(changed.ticks);
  // Leading zeros go before the digits are made, so that these are written once, to their place.
  const auto leading = static_cast<size_t>(std::countl_zero(ticks)) / 4;
  const uint64_t shown = ticks << 4 * leading;
  ETagText text;
  text.append("0x");
  char* const digits = text.extend(16, 16 - leading);
  write_be64(digits, hex_digits(static_cast<uint32_t>(shown >> 32)));
  write_be64(digits + 8, hex_digits(static_cast<uint32_t>(shown)));
  return text;
}

ETagText ETag::quoted() const { return ETagText().append('"').append(unquoted()).append('"'); }

Time next_modified(Time now, Time previous) {
  return now > previous ? now : Time{previous.ticks + 1};
}

bool TagList::lists_strongly(ETag etag) const {
  return std::any_of(tags.begin(), tags.end(),
                     [&](const Tag& tag) { return !tag.weak && tag.etag == etag; });
}

bool TagList::lists_weakly(ETag etag) const {
  return std::any_of(tags.begin(), tags.end(), [&](const Tag& tag) { return tag.etag == etag; });
}

namespace {

// The tag this server would have written as exactly this text. Tags are opaque to clients, so
// another spelling of the same number is another tag.
ETag tag_from_opaque(std::string_view text) {
  constexpr std::string_view kPrefix = "0x";
  if (!text.starts_with(kPrefix)) return {};
  int64_t ticks = 0;  // Stays so when no number is there.
  std::from_chars(text.data() + kPrefix.size(), text.data() + text.size(), ticks, 16);
  if (ticks <= 0) return {};
  const ETag etag{Time{ticks}};
  return etag.unquoted() == text ? etag : ETag{};
}

// Takes one tag off the front of `text`, or nothing if there is none.
std::optional<TagList::Tag> take_tag(std::string_view& text) {
  TagList::Tag tag;
  if (text.starts_with("W/")) {
    tag.weak = true;
    text.remove_prefix(2);
  }
  std::string_view opaque;
  if (text.starts_with('"')) {
    size_t close = text.find('"', 1);
    if (close == std::string_view::npos) return std::nullopt;
    opaque = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
  } else {
    opaque = text.substr(0, text.find_first_of(",\" \t"));
    if (opaque.empty() || opaque == "*") return std::nullopt;
    text.remove_prefix(opaque.size());
  }
  tag.etag = tag_from_opaque(opaque);
  return tag;
}

}  // namespace

std::optional<TagList> parse_tag_list(std::string_view text) {
  text = trim(text);
  TagList list;
  if (text == "*") {
    list.any = true;
    return list;
  }
  while (true) {
    auto tag = take_tag(text);
    if (!tag) return std::nullopt;
    list.tags.push_back(*tag);
    text = trim(text);
    if (text.empty()) return list;
    if (text.front() != ',') return std::nullopt;
    text = trim(text.substr(1));
  }
}

}  // namespace kyanite::concurrency
