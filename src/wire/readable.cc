#include "wire/readable.h"

#include <algorithm>

#include "base/bytes.h"
#include "wire/xml.h"

namespace kyanite::wire {

namespace {
constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr size_t kLongestCharacter = 4;

// The first character, or the first byte where there is none.
std::string_view first_of(std::string_view text) {
  for (size_t bytes = 1; bytes <= std::min(text.size(), kLongestCharacter); ++bytes) {
    if (is_valid_utf8(text.substr(0, bytes))) return text.substr(0, bytes);
  }
  return text.substr(0, 1);
}
}  // namespace

std::string readable(std::string_view text) {
  if (xml_can_hold(text)) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const std::string_view first = first_of(text);
    result.append(xml_can_hold(first) ? first : kReplacement);
    text.remove_prefix(first.size());
  }
  return result;
}

}  // namespace kyanite::wire
