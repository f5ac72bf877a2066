// A pattern and a name, one line each: matching agrees with trying every way.
#include "smb/wildcard.h"

#include <cstdint>

#include "base/check.h"

namespace {

// Takes exponential time, hence short inputs only. Of ASCII.
bool tries(std::string_view pattern, std::string_view name, size_t at, size_t last_dot) {
  if (pattern.empty()) return at == name.size();
  const char first = pattern[0];
  const std::string_view rest = pattern.substr(1);
  const bool ended = at == name.size();
  const bool dot = !ended && name[at] == '.';
  const auto skip = [&] { return tries(rest, name, at, last_dot); };
  const auto consume = [&] { return !ended && tries(rest, name, at + 1, last_dot); };
  switch (first) {
    case '*':
      return skip() || (!ended && tries(pattern, name, at + 1, last_dot));
    case '<':
      if (skip()) return true;
      return at == last_dot ? consume() : !ended && tries(pattern, name, at + 1, last_dot);
    case '?':
      return consume();
    case '>':
      return ended || dot ? skip() : consume();
    case '"':
      return ended ? skip() : dot && consume();
    default:
      return !ended && name[at] == first && consume();
  }
}

bool is_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kShort = 12;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = input.find('\n');
  if (line == std::string_view::npos) return 0;
  const std::string_view pattern = input.substr(0, line);
  const std::string_view name = input.substr(line + 1, 1024);
  const auto wildcard = kyanite::smb::Wildcard::parse(pattern);
  if (!wildcard) return 0;
  const bool found = wildcard->matches(name);
  if (pattern.size() > kShort || name.size() > kShort || !is_ascii(input)) return 0;
  const bool all = pattern == "*" || pattern == "*.*";
  CHECK(found == (all || tries(pattern, name, 0, name.rfind('.'))));
  return 0;
}
