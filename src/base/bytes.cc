#include "base/bytes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/hex.h"

namespace kyanite {

namespace {
constexpr char kHex[] = "0123456789abcdef";
constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The two characters of every twelve bits.
constexpr auto kBase64Pairs = [] {
  std::array<std::array<char, 2>, 4096> pairs{};
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kBase64[i >> 6], kBase64[i & 63]};
  return pairs;
}();

constexpr std::array<int16_t, 256> make_base64_values() {
  std::array<int16_t, 256> values{};
  for (auto& value : values) value = -1;
  for (int i = 0; i < 64; ++i) values[static_cast<uint8_t>(kBase64[i])] = static_cast<int16_t>(i);
  return values;
}
constexpr auto kBase64Values = make_base64_values();

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

template <class Int>
std::optional<Int> parse_number(std::string_view text) {
  Int value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}
}  // namespace

void append_be64(std::string& out, uint64_t value) {
  char bytes[sizeof value];
  write_be64(bytes, value);
  out.append(bytes, sizeof bytes);
}

void write_be64(char* to, uint64_t value) {
  const uint64_t swapped = __builtin_bswap64(value);
  std::memcpy(to, &swapped, sizeof swapped);
}

uint64_t read_be64(const char* bytes) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

void append_le32(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

uint32_t read_le32(const char* bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

uint64_t read_le64(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

void append_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

bool bytes_internal::read_long_varint(std::string_view& in, uint64_t& value) {
  value = 0;
  size_t at = 0;
  if (in.size() >= 8) {
    // Eight bytes at once: where the first one without the high bit is, and the groups of seven
    // bits up to there moved together, two, four and eight at a time.
    uint64_t bytes = read_le64(in.data());
    const uint64_t ends = ~bytes & 0x8080808080808080;
    if (ends != 0) bytes &= ends ^ (ends - 1);
    bytes &= 0x7f7f7f7f7f7f7f7f;
    bytes = (bytes & 0x007f007f007f007f) | (bytes & 0x7f007f007f007f00) >> 1;
    bytes = (bytes & 0x00003fff00003fff) | (bytes & 0x3fff00003fff0000) >> 2;
    value = (bytes & 0x000000000fffffff) | (bytes & 0x0fffffff00000000) >> 4;
    if (ends != 0) {
      in.remove_prefix(static_cast<size_t>(std::countr_zero(ends)) / 8 + 1);
      return true;
    }
    at = 8;
  }
  for (; at < in.size() && at < 10; ++at) {
    const auto byte = static_cast<uint8_t>(in[at]);
    if (at == 9 && byte > 1) return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * at);
    if ((byte & 0x80) == 0) {
      in.remove_prefix(at + 1);
      return true;
    }
  }
  return false;
}

std::string hex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (char c : bytes) {
    out.push_back(kHex[static_cast<uint8_t>(c) >> 4]);
    out.push_back(kHex[static_cast<uint8_t>(c) & 15]);
  }
  return out;
}

std::optional<std::string> unhex(std::string_view text) {
  if (text.size() % 2 != 0) return {};
  std::string out;
  out.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return {};
    out.push_back(static_cast<char>(high << 4 | low));
  }
  return out;
}

std::string base64(std::string_view bytes) {
  std::string out(base64_size(bytes.size()), '\0');
  write_base64(bytes, out.data());
  return out;
}

void write_base64(std::string_view bytes, char* to) {
  const auto* from = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t left = bytes.size();
  for (; left >= 3; left -= 3, from += 3, to += 4) {
    const uint32_t group = static_cast<uint32_t>(from[0] << 16 | from[1] << 8 | from[2]);
    std::memcpy(to, kBase64Pairs[group >> 12].data(), 2);
    std::memcpy(to + 2, kBase64Pairs[group & 0xfff].data(), 2);
  }
  if (left == 0) return;
  const auto group = static_cast<uint32_t>(from[0] << 16 | (left == 2 ? from[1] << 8 : 0));
  to[0] = kBase64[group >> 18];
  to[1] = kBase64[group >> 12 & 63];
  to[2] = left == 2 ? kBase64[group >> 6 & 63] : '=';
  to[3] = '=';
}

std::optional<std::string> unbase64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  size_t padding = 0;
  if (!text.empty() && text.back() == '=') padding = text[text.size() - 2] == '=' ? 2 : 1;
  std::string out(text.size() / 4 * 3, '\0');
  char* to = out.data();
  const auto value_at = [&](size_t i) { return kBase64Values[static_cast<uint8_t>(text[i])]; };
  for (size_t i = 0; i < text.size(); i += 4) {
    const size_t zeros = i + 4 == text.size() ? padding : 0;
    const int a = value_at(i);
    const int b = value_at(i + 1);
    const int c = zeros > 1 ? 0 : value_at(i + 2);
    const int d = zeros > 0 ? 0 : value_at(i + 3);
    if ((a | b | c | d) < 0) return {};
    const auto group = static_cast<uint32_t>(a << 18 | b << 12 | c << 6 | d);
    *to++ = static_cast<char>(group >> 16);
    *to++ = static_cast<char>(group >> 8);
    *to++ = static_cast<char>(group);
  }
  out.resize(out.size() - padding);
  return out;
}

std::optional<uint64_t> parse_uint(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) return {};
  return parse_number<uint64_t>(text);
}

std::optional<int64_t> parse_int(std::string_view text) { return parse_number<int64_t>(text); }

void append_uint(std::string& out, uint64_t value) {
  char digits[20];
  auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

std::string ascii_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

bool bytes_internal::equals_folded(std::string_view a, std::string_view b) {
  if (a == b) return true;  // The rule among those of equal length, and quickly found.
  for (size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = trim(text.substr(0, comma));
    if (!word.empty()) words.push_back(word);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return words;
}

bool equals_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<uint8_t>(a[i]) ^ static_cast<uint8_t>(b[i]));
  }
  return difference == 0;
}

namespace {
// How many bytes from `at` on are ASCII, seen eight at a time: the rule.
size_t ascii_from(std::string_view text, size_t at) {
  const size_t begin = at;
  for (uint64_t word; text.size() - at >= sizeof word; at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  return at - begin;
}
}  // namespace

size_t utf16_length(std::string_view text) {
  size_t length = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t ascii = ascii_from(text, i);
    length += ascii;
    i += ascii;
    for (const size_t end = std::min(text.size(), i + sizeof(uint64_t)); i < end; ++i) {
      const auto byte = static_cast<uint8_t>(text[i]);
      if ((byte & 0xc0) == 0x80) continue;  // continues a character
      length += byte >= 0xf0 ? 2 : 1;
    }
  }
  return length;
}

bool is_valid_utf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    i += ascii_from(text, i);
    if (i == text.size()) break;
    const auto lead = static_cast<uint8_t>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const int extra = lead >= 0xc2 && lead <= 0xdf   ? 1
                      : lead >= 0xe0 && lead <= 0xef ? 2
                      : lead >= 0xf0 && lead <= 0xf4 ? 3
                                                     : 0;
    if (extra == 0 || text.size() - i <= static_cast<size_t>(extra)) return false;
    uint32_t point = lead & (0x3fu >> extra);
    for (int j = 1; j <= extra; ++j) {
      const auto next = static_cast<uint8_t>(text[i + static_cast<size_t>(j)]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    const uint32_t least = extra == 1 ? 0x80 : extra == 2 ? 0x800 : 0x10000;
    if (point < least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return false;
    i += static_cast<size_t>(extra) + 1;
  }
  return true;
}

}  // namespace kyanite
