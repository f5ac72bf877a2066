// What names of metadata are made of.
#pragma once

#include <string_view>

namespace kyanite::headers {

// Whether it is an identifier as programming languages have them, of ASCII letters, digits and
// underscores: then it can be a part of a header's name, and the name of an element in XML.
inline bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !is_letter(name.front())) return false;
  for (const char c : name) {
    if (!is_letter(c) && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

}  // namespace kyanite::headers
