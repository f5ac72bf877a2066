// Bytes as text and back: endian integers, hex, base64, ASCII case, number parsing. All checked,
// none allocates more than its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite {

void append_be64(std::string& out, uint64_t value);
void write_be64(char* to, uint64_t value);
uint64_t read_be64(const char* bytes);
void append_le32(std::string& out, uint32_t value);
uint32_t read_le32(const char* bytes);
uint64_t read_le64(const char* bytes);

// LEB128. read_varint moves `in` past the number; false when it is cut short or longer than 64
// bits.
void append_varint(std::string& out, uint64_t value);
namespace bytes_internal {
bool read_long_varint(std::string_view& in, uint64_t& value);
}
inline bool read_varint(std::string_view& in, uint64_t& value) {
  if (in.empty() || static_cast<uint8_t>(in.front()) >= 0x80)
    return bytes_internal::read_long_varint(in, value);
  value = static_cast<uint8_t>(in.front());
  in.remove_prefix(1);
  return true;
}

std::string hex(std::string_view bytes);                  // lower case
std::optional<std::string> unhex(std::string_view text);  // either case
std::string base64(std::string_view bytes);
// The same into memory with room for base64_size() characters.
constexpr size_t base64_size(size_t bytes) { return (bytes + 2) / 3 * 4; }
void write_base64(std::string_view bytes, char* to);
std::optional<std::string> unbase64(
    std::string_view text);  // strict: padding required, no white space

// Decimal digits only; no sign, no blanks, no overflow.
std::optional<uint64_t> parse_uint(std::string_view text);
// As parse_uint, with an optional leading minus.
std::optional<int64_t> parse_int(std::string_view text);
void append_uint(std::string& out, uint64_t value);

std::string ascii_lower(std::string_view text);
namespace bytes_internal {
bool equals_folded(std::string_view a, std::string_view b);  // of equal length
}
// ASCII.
inline bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && bytes_internal::equals_folded(a, b);
}
std::string_view trim(std::string_view text);  // spaces and tabs
// The words between the commas, trimmed; empty ones are left out. Views into `text`.
std::vector<std::string_view> split_list(std::string_view text);

// Takes the same time wherever the two differ; for secrets.
bool equals_constant_time(std::string_view a, std::string_view b);

bool is_valid_utf8(std::string_view text);
// In units of UTF-16, in which Azure counts names and text. `text` is valid UTF-8.
size_t utf16_length(std::string_view text);

}  // namespace kyanite
