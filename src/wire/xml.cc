#include "wire/xml.h"

#include <array>
#include <cstdint>
#include <utility>

#include "base/bytes.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kyanite::wire {

namespace {
// What stands for a character that cannot stand for itself; empty for all others.
constexpr auto kReferences = [] {
  std::array<std::string_view, 256> references{};
  references['&'] = "&amp;";
  references['<'] = "&lt;";
  references['>'] = "&gt;";
  references['"'] = "&quot;";
  references['\''] = "&apos;";
  references['\r'] = "&#xD;";  // A bare one would reach the reader as a line feed.
  return references;
}();

void append_escaped(std::string& out, std::string_view text) {
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view with = kReferences[static_cast<uint8_t>(text[i])];
    if (with.empty()) continue;
    out.append(text.substr(start, i - start)).append(with);
    start = i + 1;
  }
  out.append(text.substr(start));
}
}  // namespace

XmlWriter::XmlWriter() : out_("\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?>") {}

bool XmlWriter::needs_escape(std::string_view text) {
  size_t at = 0;
#if defined(__SSE2__)
  const auto is = [](__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
  for (; text.size() - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i quotes = _mm_or_si128(is(bytes, '"'), is(bytes, '\''));
    const __m128i angles = _mm_or_si128(is(bytes, '<'), is(bytes, '>'));
    const __m128i others = _mm_or_si128(is(bytes, '&'), is(bytes, '\r'));
    if (_mm_movemask_epi8(_mm_or_si128(quotes, _mm_or_si128(angles, others))) != 0) return true;
  }
#endif
  for (; at < text.size(); ++at) {
    if (!kReferences[static_cast<uint8_t>(text[at])].empty()) return true;
  }
  return false;
}

XmlWriter& XmlWriter::open(std::string_view tag) {
  end_start_tag();
  out_ += '<';
  out_ += tag;
  in_start_tag_ = true;
  return *this;
}

XmlWriter& XmlWriter::attribute(std::string_view name, std::string_view value) {
  out_ += ' ';
  out_ += name;
  out_ += "=\"";
  append_escaped(out_, value);
  out_ += '"';
  return *this;
}

XmlWriter& XmlWriter::text(std::string_view text) {
  end_start_tag();
  append_escaped(out_, text);
  return *this;
}

XmlWriter& XmlWriter::close(std::string_view tag) {
  if (in_start_tag_) {
    out_ += " />";
    in_start_tag_ = false;
    return *this;
  }
  out_ += "</";
  out_ += tag;
  out_ += '>';
  return *this;
}

XmlWriter& XmlWriter::element(std::string_view tag, std::string_view text) {
  end_start_tag();
  out_ += '<';
  out_ += tag;
  if (text.empty()) {
    out_ += " />";
    return *this;
  }
  out_ += '>';
  append_escaped(out_, text);
  out_ += "</";
  out_ += tag;
  out_ += '>';
  return *this;
}

XmlWriter& XmlWriter::element(std::string_view tag, uint64_t number) {
  std::string digits;
  append_uint(digits, number);
  return element(tag, digits);
}

XmlWriter& XmlWriter::optional(std::string_view tag, std::string_view text) {
  return text.empty() ? *this : element(tag, text);
}

std::string XmlWriter::take() { return std::move(out_); }

bool xml_can_hold(std::string_view utf8) {
  for (size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') return false;
    // U+FFFE and U+FFFF: EF BF BE and EF BF BF.
    if (byte == 0xef && utf8.substr(i, 2) == "\xef\xbf" && i + 2 < utf8.size() &&
        static_cast<unsigned char>(utf8[i + 2]) >= 0xbe) {
      return false;
    }
  }
  return true;
}

}  // namespace kyanite::wire
