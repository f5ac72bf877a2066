#include "wire/xml.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
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

// Most documents fit one page; a listing goes on in full-size blocks.
constexpr size_t kFirstPieceBytes = kPageBytes;

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
#endif

// Pieces written before, sent one after the other.
class PiecesStream final : public http::BodyStream {
 public:
  explicit PiecesStream(std::vector<Buffer> pieces) : pieces_(std::move(pieces)) {}
  Task<Result<os::Bytes, http::StreamError>> next() override {
    if (next_ == pieces_.size()) co_return os::Bytes(Buffer());
    co_return os::Bytes(std::move(pieces_[next_++]));
  }

 private:
  std::vector<Buffer> pieces_;
  size_t next_ = 0;
};
}  // namespace

XmlWriter::XmlWriter() { append("\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?>"); }

bool XmlWriter::needs_escape(std::string_view text) {
#if defined(__SSE2__)
  return any_block(text, [](__m128i bytes) {
    const auto is = [bytes](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
    const __m128i quotes = _mm_or_si128(is('"'), is('\''));
    const __m128i angles = _mm_or_si128(is('<'), is('>'));
    return _mm_or_si128(quotes, _mm_or_si128(angles, _mm_or_si128(is('&'), is('\r'))));
  });
#else
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return !kReferences[static_cast<uint8_t>(c)].empty(); });
#endif
}

void XmlWriter::end_piece() {
  if (!pieces_.empty()) pieces_.back().resize(static_cast<size_t>(at_ - pieces_.back().data()));
}

void XmlWriter::next_piece() {
  end_piece();
  auto& piece = pieces_.emplace_back(pieces_.empty() ? kFirstPieceBytes : kChunkBytes);
  at_ = piece.data();
  end_ = at_ + piece.capacity();
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
  end_piece();
  std::string whole;
  for (const auto& piece : pieces_) whole += piece.view();
  return whole;
}

void XmlWriter::take(http::Reply& reply) {
  if (pieces_.size() == 1) {
    reply.body = take();
    return;
  }
  end_piece();
  reply.stream_length =
      std::transform_reduce(pieces_.begin(), pieces_.end(), uint64_t{0}, std::plus(),
                            [](const Buffer& piece) { return piece.size(); });
  reply.body = std::make_unique<PiecesStream>(std::move(pieces_));
}

bool xml_can_hold(std::string_view utf8) {
#if defined(__SSE2__)
  if (utf8.empty()) return true;
  // Most text has neither control characters nor what the two forbidden characters begin with.
  const bool doubtful = any_block(utf8, [](__m128i bytes) {
    const auto is = [bytes](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const __m128i allowed = _mm_or_si128(is('\t'), _mm_or_si128(is('\n'), is('\r')));
    return _mm_or_si128(_mm_andnot_si128(allowed, control), is('\xef'));
  });
  if (!doubtful) return true;
#endif
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
