#include "wire/xml.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "wire/readable.h"

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

// Control characters but the blanks.
bool is_forbidden(char c) {
  return static_cast<uint8_t>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
}
// U+FFFE and U+FFFF, EF BF BE and EF BF BF, are no characters.
constexpr std::string_view kNoCharacters = "\xef\xbf";
constexpr uint8_t kFirstNoCharacter = 0xbe;

// Most documents fit a page. The longer one becomes the more is sent at once: sending wakes the
// client each time.
constexpr size_t kPieceBytes[] = {kPageBytes, kChunkBytes, 4 * kChunkBytes};

#if defined(__SSE2__)
// 16 characters of the text at a time, `test`ed until that is not zero; the last ones again where
// the length is no multiple.
template <class Test>
bool any_block(std::string_view text, Test test) {
  const auto load = [](const char* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  if (text.size() < 16) {
    char block[16];
    std::memset(block, 'a', sizeof block);
    std::memcpy(block, text.data(), text.size());
    return _mm_movemask_epi8(test(load(block))) != 0;
  }
  for (size_t at = 0; at + 16 < text.size(); at += 16) {
    if (_mm_movemask_epi8(test(load(text.data() + at))) != 0) return true;
  }
  return _mm_movemask_epi8(test(load(text.data() + text.size() - 16))) != 0;
}

__m128i are(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }

// Characters that have references.
__m128i escapes_in(__m128i bytes) {
  const __m128i quotes = _mm_or_si128(are(bytes, '"'), are(bytes, '\''));
  const __m128i angles = _mm_or_si128(are(bytes, '<'), are(bytes, '>'));
  const __m128i others = _mm_or_si128(are(bytes, '&'), are(bytes, '\r'));
  return _mm_or_si128(quotes, _mm_or_si128(angles, others));
}

// Control characters but the blanks, and bytes from 0x80, which may be no UTF-8: both are less than
// a blank when they are signed.
__m128i doubts_in(__m128i bytes) {
  const __m128i doubts = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
  const __m128i lines = _mm_or_si128(are(bytes, '\n'), are(bytes, '\r'));
  return _mm_andnot_si128(_mm_or_si128(are(bytes, '\t'), lines), doubts);
}
#endif
}  // namespace

XmlWriter::XmlWriter() { append("\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?>"); }

void XmlWriter::end_piece() {
  if (!pieces_.empty()) pieces_.back().resize(static_cast<size_t>(at_ - begin_));
}

void XmlWriter::next_piece() {
  done_bytes_ = bytes();
  end_piece();
  const size_t count = std::min(taken_ + pieces_.size(), std::size(kPieceBytes) - 1);
  auto& piece = pieces_.emplace_back(kPieceBytes[count]);
  at_ = begin_ = piece.data();
  end_ = at_ + piece.capacity();
}

void XmlWriter::rewind(const Mark& mark) {
  pieces_.resize(mark.pieces);
  done_bytes_ = mark.done_bytes;
  at_ = begin_ = end_ = nullptr;
  in_start_tag_ = mark.in_start_tag;
  if (pieces_.empty()) return;
  begin_ = pieces_.back().data();
  at_ = mark.at;
  end_ = begin_ + pieces_.back().capacity();
}

void XmlWriter::append(std::string_view text) {
  while (!text.empty()) {
    if (at_ == end_) next_piece();
    const size_t count = std::min(text.size(), static_cast<size_t>(end_ - at_));
    std::memcpy(at_, text.data(), count);
    at_ += count;
    text.remove_prefix(count);
  }
}

void XmlWriter::append_escaped(std::string_view text) {
  if (!xml_can_hold(text)) return append_escaped(readable(text));
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view with = kReferences[static_cast<uint8_t>(text[i])];
    if (with.empty()) continue;
    append(text.substr(start, i - start));
    append(with);
    start = i + 1;
  }
  append(text.substr(start));
}

XmlWriter& XmlWriter::open(std::string_view tag) {
  end_start_tag();
  append("<");
  append(tag);
  in_start_tag_ = true;
  return *this;
}

XmlWriter& XmlWriter::attribute(std::string_view name, std::string_view value) {
  append(" ");
  append(name);
  append("=\"");
  append_escaped(value);
  append("\"");
  return *this;
}

XmlWriter& XmlWriter::text(std::string_view text) {
  end_start_tag();
  append_escaped(text);
  return *this;
}

XmlWriter& XmlWriter::close(std::string_view tag) {
  if (in_start_tag_) {
    append(" />");
    in_start_tag_ = false;
    return *this;
  }
  append("</");
  append(tag);
  append(">");
  return *this;
}

XmlWriter& XmlWriter::element(std::string_view tag, std::string_view text) {
  open(tag);
  if (!text.empty()) this->text(text);
  return close(tag);
}

XmlWriter& XmlWriter::element(std::string_view tag, uint64_t number) {
  std::string digits;
  append_uint(digits, number);
  return element(tag, digits);
}

XmlWriter& XmlWriter::optional(std::string_view tag, std::string_view text) {
  return text.empty() ? *this : element(tag, text);
}

std::string XmlWriter::take() {
  std::string whole;
  for (const auto& piece : take_pieces()) whole += piece.view();
  return whole;
}

std::vector<Buffer> XmlWriter::take_pieces() {
  end_piece();
  at_ = begin_ = end_ = nullptr;
  done_bytes_ = 0;
  taken_ += pieces_.size();
  return std::exchange(pieces_, {});
}

bool xml_is_plain(std::string_view text) {
  if (text.empty()) return true;
#if defined(__SSE2__)
  return !any_block(
      text, [](__m128i bytes) { return _mm_or_si128(escapes_in(bytes), doubts_in(bytes)); });
#else
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte < 0x80 && kReferences[byte].empty() && !is_forbidden(c);
  });
#endif
}

bool xml_can_hold(std::string_view text) {
#if defined(__SSE2__)
  if (text.empty() || !any_block(text, doubts_in)) return true;
#endif
  if (std::any_of(text.begin(), text.end(), is_forbidden) || !is_valid_utf8(text)) return false;
  for (size_t at = text.find(kNoCharacters); at != text.npos;
       at = text.find(kNoCharacters, at + 1)) {
    if (static_cast<uint8_t>(text[at + kNoCharacters.size()]) >= kFirstNoCharacter) return false;
  }
  return true;
}

}  // namespace kyanite::wire
