#include "sql/functions.h"

namespace kyanite::sql {

namespace {

// One unit of a pattern: what it takes in the pattern, and whether it takes a character.
struct Unit {
  size_t bytes = 0;
  bool any_text = false;  // %
  bool matches = false;
};

// The set behind "[" that ends before "]"; UTF-8 compares as its characters do.
bool is_in_set(std::string_view set, std::string_view character) {
  const bool negated = set.starts_with('^');
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (size_t at = 0; at < set.size() && !found;) {
    const size_t size = character_bytes(set, at);
    const std::string_view from = set.substr(at, size);
    at += size;
    if (at + 1 < set.size() && set[at] == '-') {
      const size_t last = character_bytes(set, at + 1);
      found = character >= from && character <= set.substr(at + 1, last);
      at += 1 + last;
    } else {
      found = character == from;
    }
  }
  return found != negated;
}

Unit unit_at(std::string_view pattern, size_t at, char escape, std::string_view character) {
  const char c = pattern[at];
  if (escape != '\0' && c == escape && at + 1 < pattern.size()) {
    const size_t size = character_bytes(pattern, at + 1);
    return {1 + size, false, pattern.substr(at + 1, size) == character};
  }
  if (c == '%') return {1, true, false};
  if (c == '_') return {1, false, true};
  if (c == '[') {
    const size_t end = pattern.find(']', at + 2);
    if (end != std::string_view::npos)
      return {end + 1 - at, false, is_in_set(pattern.substr(at + 1, end - at - 1), character)};
  }
  const size_t size = character_bytes(pattern, at);
  return {size, false, pattern.substr(at, size) == character};
}

}  // namespace

Evaluated<bool> is_like(std::string_view text, std::string_view pattern, char escape,
                        Scratch& scratch) {
  constexpr size_t kNone = std::string_view::npos;
  size_t at = 0;
  size_t in_pattern = 0;
  // Where to go on when the last % takes a character more.
  size_t retry_at = kNone;
  size_t retry_pattern = 0;
  while (at < text.size()) {
    const std::string_view character = text.substr(at, character_bytes(text, at));
    Unit unit;
    if (in_pattern < pattern.size()) unit = unit_at(pattern, in_pattern, escape, character);
    if (!scratch.spend(1 + unit.bytes)) return too_costly();
    if (unit.any_text) {
      in_pattern += unit.bytes;
      retry_at = at;
      retry_pattern = in_pattern;
    } else if (unit.matches) {
      in_pattern += unit.bytes;
      at += character.size();
    } else if (retry_at != kNone) {
      retry_at += character_bytes(text, retry_at);
      at = retry_at;
      in_pattern = retry_pattern;
    } else {
      return false;
    }
  }
  while (in_pattern < pattern.size() && pattern[in_pattern] == '%') ++in_pattern;
  return in_pattern == pattern.size();
}

}  // namespace kyanite::sql
