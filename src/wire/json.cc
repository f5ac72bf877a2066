#include "wire/json.h"

#include <charconv>
#include <cmath>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kyanite::wire {

namespace {
bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

// Where the next character that must be escaped is, seen 16 at a time: text mostly has none.
size_t find_escaped(std::string_view text, size_t at) {
#if defined(__SSE2__)
  for (; text.size() - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    if (_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, slash))) != 0) break;
  }
#endif
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}
}  // namespace

void append_json_text(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  size_t plain = 0;  // start of what needs no escaping
  for (size_t i = find_escaped(text, 0); i < text.size(); i = find_escaped(text, plain)) {
    const char c = text[i];
    out.append(text.substr(plain, i - plain));
    plain = i + 1;
    switch (c) {
      case '"':
        out.append("\\\"");
        break;
      case '\\':
        out.append("\\\\");
        break;
      case '\n':
        out.append("\\n");
        break;
      case '\r':
        out.append("\\r");
        break;
      case '\t':
        out.append("\\t");
        break;
      default:
        out.append("\\u00");
        out.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
        out.push_back(kHex[static_cast<unsigned char>(c) & 15]);
    }
  }
  out.append(text.substr(plain));
}

void JsonWriter::begin_value() {
  if (needs_comma_) out_.push_back(',');
  needs_comma_ = true;
}

JsonWriter& JsonWriter::begin_object() {
  begin_value();
  out_.push_back('{');
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  out_.push_back('}');
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  begin_value();
  out_.push_back('[');
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  out_.push_back(']');
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) { return key(name, {}); }

JsonWriter& JsonWriter::key(std::string_view name, std::string_view suffix) {
  begin_value();
  out_.push_back('"');
  append_json_text(out_, name);
  append_json_text(out_, suffix);
  out_.append("\":");
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) {
  begin_value();
  out_.push_back('"');
  append_json_text(out_, text);
  out_.push_back('"');
  return *this;
}

JsonWriter& JsonWriter::integer(int64_t value) {
  begin_value();
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out_.append(digits, end);
  return *this;
}

JsonWriter& JsonWriter::number(double value) {
  if (std::isnan(value)) return string("NaN");
  if (std::isinf(value)) return string(value > 0 ? "Infinity" : "-Infinity");
  begin_value();
  // Digits are spelled out as far as that stays readable.
  const double size = std::fabs(value);
  const bool plain = value == 0 || (size >= 1e-5 && size < 1e15);
  char digits[40];
  const auto written =
      std::to_chars(digits, digits + sizeof digits, value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  const std::string_view text(digits, static_cast<size_t>(written.ptr - digits));
  out_.append(text);
  if (text.find_first_of(".e") == std::string_view::npos) out_.append(".0");
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  begin_value();
  out_.append(value ? "true" : "false");
  return *this;
}

JsonWriter& JsonWriter::null() {
  begin_value();
  out_.append("null");
  return *this;
}

JsonWriter& JsonWriter::member(std::string_view name, std::string_view text) {
  return key(name).string(text);
}

}  // namespace kyanite::wire
