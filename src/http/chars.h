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

// The position of the first control byte, or text.size().
inline size_t find_control(std::string_view text) {
  size_t at = 0;
#if defined(__SSE2__)
  const __m128i last_control = _mm_set1_epi8(0x1f);
  const __m128i tab = _mm_set1_epi8('\t');
  const __m128i del = _mm_set1_epi8(0x7f);
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i found =
        _mm_or_si128(_mm_andnot_si128(_mm_cmpeq_epi8(bytes, tab), low), _mm_cmpeq_epi8(bytes, del));
    const int mask = _mm_movemask_epi8(found);
    if (mask != 0) return at + static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(mask)));
  }
#endif
  while (at < text.size() && !is_control(text[at])) ++at;
  return at;
}

}  // namespace kyanite::http
