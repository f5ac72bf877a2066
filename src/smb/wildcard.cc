#include "smb/wildcard.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kyanite::smb {

namespace {

// The character that begins here; `at` is moved behind it. What is not valid UTF-8 gives something,
// the same for the same bytes.
char32_t next_character(std::string_view text, size_t& at) {
  const auto lead = static_cast<uint8_t>(text[at++]);
  if (lead < 0x80) return lead;
  char32_t point = lead & (lead >= 0xF0 ? 0x07 : lead >= 0xE0 ? 0x0F : 0x1F);
  while (at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80)
    point = (point << 6 | (static_cast<uint8_t>(text[at++]) & 0x3F)) & 0x1FFFFF;
  return point > 0x10FFFF ? 0xFFFD : point;
}

}  // namespace

std::optional<Wildcard> Wildcard::parse(std::string_view pattern) {
  if (pattern.empty()) return {};
  Wildcard wildcard;
  wildcard.text_ = pattern;
  wildcard.all_ = pattern == "*" || pattern == "*.*";
  wildcard.literal_ = pattern.find_first_of("*?<>\"") == std::string_view::npos;
  for (size_t at = 0; at < pattern.size();) {
    char32_t part = next_character(pattern, at);
    switch (part) {
      case '*':
        part = kStar;
        break;
      case '?':
        part = kAny;
        break;
      case '<':
        part = kDosStar;
        break;
      case '>':
        part = kDosAny;
        break;
      case '"':
        part = kDosDot;
        break;
      default:
        break;
    }
    if (part == kStar && !wildcard.parts_.empty() && wildcard.parts_.back() == kStar) continue;
    if (wildcard.parts_.size() == kMaxCharacters) return {};
    wildcard.parts_.push_back(part);
  }
  return wildcard;
}

bool Wildcard::matches(std::string_view name) const {
  if (all_) return true;
  if (literal_) return name == text_;
  // All places of the pattern at which a match of the beginning of the name can stand, kept from
  // `first` on. Each character moves all of them, so the time is bounded by the product of lengths.
  const size_t end = parts_.size();
  const size_t last_dot = name.rfind('.');
  std::array<bool, kMaxCharacters + 1> places[2];
  bool* here = places[0].data();
  bool* next = places[1].data();
  std::fill(here, here + end + 1, false);
  here[0] = true;
  size_t first = 0;
  for (size_t at = 0; at < name.size();) {
    const bool is_last_dot = at == last_dot;
    const char32_t character = next_character(name, at);
    std::fill(next + first, next + end + 1, false);
    size_t next_first = end + 1;
    const auto reach = [&](size_t place) {
      next[place] = true;
      next_first = std::min(next_first, place);
    };
    for (size_t place = first; place < end; ++place) {
      if (!here[place]) continue;
      switch (parts_[place]) {
        case kStar:
          here[place + 1] = true;
          reach(place);
          break;
        case kDosStar:
          here[place + 1] = true;
          reach(is_last_dot ? place + 1 : place);
          break;
        case kAny:
          reach(place + 1);
          break;
        case kDosAny:
          if (character == '.') {
            here[place + 1] = true;
          } else {
            reach(place + 1);
          }
          break;
        case kDosDot:
          if (character == '.') reach(place + 1);
          break;
        default:
          if (character == parts_[place]) reach(place + 1);
          break;
      }
    }
    if (next_first > end) return false;
    first = next_first;
    std::swap(here, next);
  }
  for (size_t place = first; place < end; ++place) {
    if (here[place] && parts_[place] >= kStar && parts_[place] != kAny) here[place + 1] = true;
  }
  return here[end];
}

}  // namespace kyanite::smb
