// Which bytes may stand where in a head (RFC 9110).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kyanite::http {

namespace chars_internal {
constexpr std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (char c : std::string_view("!#$%&'*+-.^_`|~0123456789"
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    table[static_cast<uint8_t>(c)] = true;
  }
  return table;
}
inline constexpr auto kToken = make_token_table();
}  // namespace chars_internal

inline bool is_token_char(char c) { return chars_internal::kToken[static_cast<uint8_t>(c)]; }

inline bool is_token(std::string_view text) {
  for (char c : text) {
    if (!is_token_char(c)) return false;
  }
  return !text.empty();
}

// Bytes that could end a line or a string for some reader. Bytes from 0x80 are not: metadata may be
// UTF-8.
inline bool is_control(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

#if defined(__SSE2__)
namespace chars_internal {
// Whether one of 16 bytes is a control byte.
inline bool any_control(__m128i bytes) {
  const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
  const __m128i tab = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'));
  const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
  return _mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, low), del)) != 0;
}
inline __m128i load_16(const char* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
inline __m128i load_8(const char* from) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
}
}  // namespace chars_internal
#endif

// Every header value passes through here, in both directions.
inline bool has_control(std::string_view text) {
#if defined(__SSE2__)
  using namespace chars_internal;
  const char* const from = text.data();
  const size_t size = text.size();
  // The last block overlaps the one before it, so that no byte is left to a loop.
  if (size >= 16) {
    for (size_t at = 0; at + 16 < size; at += 16) {
      if (any_control(load_16(from + at))) return true;
    }
    return any_control(load_16(from + size - 16));
  }
  if (size >= 8) return any_control(_mm_unpacklo_epi64(load_8(from), load_8(from + size - 8)));
#endif
  for (char c : text) {
    if (is_control(c)) return true;
  }
  return false;
}

// The position of the first control byte, or text.size().
inline size_t find_control(std::string_view text) {
  if (!has_control(text)) return text.size();
  size_t at = 0;
  while (!is_control(text[at])) ++at;
  return at;
}

}  // namespace kyanite::http
