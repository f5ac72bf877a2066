#include "http/message.h"

#include <algorithm>

#include "base/bytes.h"
#include "http/chars.h"

namespace kyanite::http {

std::optional<std::string_view> Headers::search(std::string_view name) const {
  for (const auto& line : lines_) {
    // The length and the last character tell most apart.
    if (line.name.size() != name.size() || name.empty()) continue;
    if (((line.name.back() ^ name.back()) & ~0x20) != 0) continue;
    if (equals_ignoring_case(line.name, name)) return line.value;
  }
  return {};
}

void Headers::set(std::string_view name, std::string_view value) {
  for (auto& line : lines_) {
    if (equals_ignoring_case(line.name, name)) {
      line.value = value;
      return;
    }
  }
  add(name, value);
}

size_t Headers::count(std::string_view name) const {
  size_t found = 0;
  for (const auto& line : lines_) found += equals_ignoring_case(line.name, name) ? 1 : 0;
  return found;
}

Reply& Reply::header(std::string_view name, std::string_view value) {
  head.append(name).append(": ");
  while (true) {
    const size_t clean = find_control(value);
    head.append(value.substr(0, clean));
    if (clean == value.size()) break;
    head.push_back(' ');
    value.remove_prefix(clean + 1);
  }
  head.append("\r\n");
  return *this;
}

Reply& Reply::header(std::string_view name, uint64_t value) {
  std::string digits;
  append_uint(digits, value);
  return header(name, digits);
}

Reply& Reply::because(std::string_view text) {
  text = text.substr(0, std::min(text.find_first_of("\r\n"), kMaxReasonBytes));
  if (text.empty()) return *this;
  std::string line(text);
  for (char& c : line) {
    if (c < ' ' || c > '~') c = '?';
  }
  reason = std::make_unique<const std::string>(std::move(line));
  return *this;
}

bool Reply::has_header(std::string_view name) const {
  size_t line = 0;
  while (line < head.size()) {
    const size_t colon = head.find(':', line);
    if (colon == std::string::npos) return false;
    if (equals_ignoring_case(std::string_view(head).substr(line, colon - line), name)) return true;
    line = head.find("\r\n", colon) + 2;
  }
  return false;
}

}  // namespace kyanite::http
