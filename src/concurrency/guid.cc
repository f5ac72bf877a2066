#include "concurrency/guid.h"

#include "base/bytes.h"

namespace kyanite::concurrency {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr size_t kGuidDigits = 32;

bool is_hex(std::string_view lower) {
  return lower.find_first_not_of(kHexDigits) == std::string_view::npos;
}

std::string with_dashes(std::string_view digits) {
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) text += '-';
    text += digits[i];
  }
  return text;
}

// The digits of form D.
std::optional<std::string> digits_between_dashes(std::string_view text) {
  std::string digits;
  for (char c : text) {
    if (c != '-') digits += c;
  }
  if (digits.size() != kGuidDigits || with_dashes(digits) != text) return std::nullopt;
  return digits;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

// The digits of form X, whose numbers may leave out leading zeros.
std::optional<std::string> digits_of_hex_numbers(std::string_view text) {
  struct Field {
    std::string_view before;
    size_t width;
  };
  static constexpr Field kFields[] = {{"{0x", 8}, {",0x", 4}, {",0x", 4}, {",{0x", 2},
                                      {",0x", 2}, {",0x", 2}, {",0x", 2}, {",0x", 2},
                                      {",0x", 2}, {",0x", 2}, {",0x", 2}};
  std::string digits;
  for (const Field& field : kFields) {
    if (!take(text, field.before)) return std::nullopt;
    std::string_view number = text.substr(0, text.find_first_not_of(kHexDigits));
    if (number.empty() || number.size() > field.width) return std::nullopt;
    digits.append(field.width - number.size(), '0').append(number);
    text.remove_prefix(number.size());
  }
  if (text != "}}") return std::nullopt;
  return digits;
}

}  // namespace

std::optional<std::string> parse_guid(std::string_view text) {
  const std::string lower = ascii_lower(text);
  std::string_view rest = lower;
  std::optional<std::string> digits;
  if (rest.starts_with("{0x")) {
    digits = digits_of_hex_numbers(rest);
  } else if ((rest.starts_with('{') && rest.ends_with('}')) ||
             (rest.starts_with('(') && rest.ends_with(')'))) {
    digits = digits_between_dashes(rest.substr(1, rest.size() - 2));
  } else if (rest.size() == kGuidDigits) {
    digits = lower;
  } else {
    digits = digits_between_dashes(rest);
  }
  if (!digits || !is_hex(*digits)) return std::nullopt;
  return with_dashes(*digits);
}

}  // namespace kyanite::concurrency
