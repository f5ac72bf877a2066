// XML out, by hand: a list page of 5,000 entries costs a millisecond this way. Input is parsed with
// pugixml where needed.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/short_text.h"

namespace kyanite::wire {

// Whether the text can stand in a document as it is, without escapes. In doubt it cannot.
bool xml_is_plain(std::string_view text);
// Whether XML 1.0 can carry the text at all: it has to be UTF-8, and most control characters cannot
// be written even as references.
bool xml_can_hold(std::string_view text);

// Writes into pieces of memory that are never moved, so that a long document is not copied while it
// grows. U+FFFD stands for what no document may have, so that one bad text does not make the whole
// document unreadable; whoever stores text refuses such by xml_can_hold().
class XmlWriter {
 public:
  XmlWriter();  // Begins with the byte order mark and declaration that the service sends.
  // Begins with nothing: what is written becomes a part of other documents, by raw().
  static XmlWriter fragment() { return XmlWriter(kFragment); }

  XmlWriter& open(std::string_view tag);
  // Within the start tag just opened.
  XmlWriter& attribute(std::string_view name, std::string_view value);
  XmlWriter& text(std::string_view text);
  XmlWriter& close(std::string_view tag);
  // <tag>text</tag>, or <tag /> when the text is empty.
  XmlWriter& element(std::string_view tag, std::string_view text);
  XmlWriter& element(std::string_view tag, uint64_t number);

  // The same where the tag is known: listings are made of these.
  template <size_t kSize>
  XmlWriter& open(const char (&tag)[kSize]) {
    end_start_tag();
    reserve(kMostAtOnce);
    at_ = put(put(at_, "<"), tag);
    in_start_tag_ = true;
    return *this;
  }
  template <size_t kSize>
  XmlWriter& close(const char (&tag)[kSize]) {
    if (in_start_tag_) return close(std::string_view());
    reserve(kMostAtOnce);
    at_ = put(put(put(at_, "</"), tag), ">");
    return *this;
  }
  template <size_t kSize>
  XmlWriter& element(const char (&tag)[kSize], std::string_view text) {
    if (!xml_is_plain(text)) return element(std::string_view(tag, kSize - 1), text);
    return plain(tag, text);
  }
  template <size_t kSize>
  XmlWriter& element(const char (&tag)[kSize], uint64_t number) {
    char digits[20];
    const char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return plain(tag, {digits, static_cast<size_t>(end - digits)});
  }
  // For text that cannot hold anything to be escaped, such as dates and words of the protocol.
  template <size_t kSize>
  XmlWriter& plain(const char (&tag)[kSize], std::string_view text);
  // Parts that are XML together: literals, fragments, and text as for plain().
  template <class... Parts>
  XmlWriter& raw(const Parts&... parts);
  // Only when the text is not empty.
  XmlWriter& optional(std::string_view tag, std::string_view text);

  std::string take();
  // What was written since the last time; the document may go on.
  std::vector<Buffer> take_pieces();
  size_t bytes() const { return done_bytes_ + static_cast<size_t>(at_ - begin_); }  // Of these.

  // A place to come back to, dropping what was written since, unless pieces were taken.
  struct Mark {
    size_t pieces;
    size_t done_bytes;
    char* at;
    bool in_start_tag;
  };
  Mark mark() const { return {pieces_.size(), done_bytes_, at_, in_start_tag_}; }
  void rewind(const Mark& mark);

 private:
  enum Fragment { kFragment };
  explicit XmlWriter(Fragment) {}

  static constexpr size_t kMostAtOnce = 512;
  static constexpr size_t kSlack = 64;  // Behind a part, where more may be written than it has.
  static constexpr size_t kMostOfParts = kPageBytes - kSlack;  // The first piece is the smallest.

  // Memory for that many bytes, to be written at at_; at most a page.
  void reserve(size_t bytes) {
    if (static_cast<size_t>(end_ - at_) < bytes) next_piece();
  }
  // Both return where the text ends, behind which at_ is to be moved: kept in a variable until
  // then, as characters written through at_ could be at_ itself for all the compiler knows.
  template <size_t kSize>
  [[gnu::always_inline]] static char* put(char* to, const char (&text)[kSize]) {
    std::memcpy(to, text, kSize - 1);
    return to + kSize - 1;
  }
  // Text that lives in place is copied with all its memory.
  template <size_t kMost>
  [[gnu::always_inline]] static char* put(char* to, const ShortText<kMost>& text) {
    static_assert(kMost <= kSlack);
    std::memcpy(to, text.view().data(), kMost);
    return to + text.view().size();
  }
  // Short text is copied from both ends, in pieces that may overlap, instead of calling memcpy.
  static char* put(char* to, std::string_view text) {
    const size_t size = text.size();
    const auto ends = [&](auto piece) {
      std::memcpy(&piece, text.data(), sizeof piece);
      auto last = piece;
      std::memcpy(&last, text.data() + size - sizeof piece, sizeof piece);
      std::memcpy(to, &piece, sizeof piece);
      std::memcpy(to + size - sizeof piece, &last, sizeof piece);
    };
    struct Sixteen {
      uint64_t halves[2];
    };
    if (size > 2 * sizeof(Sixteen)) {
      std::memcpy(to, text.data(), size);
    } else if (size >= sizeof(Sixteen)) {
      ends(Sixteen());
    } else if (size >= sizeof(uint64_t)) {
      ends(uint64_t());
    } else if (size >= sizeof(uint32_t)) {
      ends(uint32_t());
    } else {
      for (size_t i = 0; i < size; ++i) to[i] = text[i];
    }
    return to + size;
  }
  void append(std::string_view text);
  void append_escaped(std::string_view text);
  void end_start_tag() {
    if (!in_start_tag_) return;
    reserve(1);
    *at_++ = '>';
    in_start_tag_ = false;
  }
  void next_piece();
  void end_piece();

  std::vector<Buffer> pieces_;
  size_t taken_ = 0;       // how many were
  size_t done_bytes_ = 0;  // in all but the last piece
  char* begin_ = nullptr;  // of the last piece
  char* at_ = nullptr;
  char* end_ = nullptr;
  bool in_start_tag_ = false;
};

template <size_t kSize>
XmlWriter& XmlWriter::plain(const char (&tag)[kSize], std::string_view text) {
  constexpr size_t kMarks = 2 * (kSize - 1) + sizeof "<></>";
  static_assert(kMarks < kMostAtOnce);
  end_start_tag();
  reserve(kMostAtOnce);
  char* to = put(put(at_, "<"), tag);
  if (text.empty()) {
    at_ = put(to, " />");
    return *this;
  }
  to = put(to, ">");
  if (text.size() <= kMostAtOnce - kMarks) {
    to = put(to, text);
  } else {
    at_ = to;
    append(text);
    reserve(kMostAtOnce);
    to = at_;
  }
  at_ = put(put(put(to, "</"), tag), ">");
  return *this;
}

template <class... Parts>
XmlWriter& XmlWriter::raw(const Parts&... parts) {
  end_start_tag();
  const auto size = (... + std::string_view(parts).size());
  if (size > kMostOfParts) {
    (..., append(parts));
    return *this;
  }
  reserve(size + kSlack);
  char* to = at_;
  ((to = put(to, parts)), ...);
  at_ = to;
  return *this;
}

}  // namespace kyanite::wire
