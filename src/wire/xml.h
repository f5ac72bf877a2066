// XML out, by hand: a list page of 5,000 entries costs a millisecond this way. Input is parsed with
// pugixml where needed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kyanite::wire {

class XmlWriter {
 public:
  XmlWriter();  // Begins with the byte order mark and declaration that the service sends.

  XmlWriter& open(std::string_view tag);
  // Within the start tag just opened.
  XmlWriter& attribute(std::string_view name, std::string_view value);
  XmlWriter& text(std::string_view text);
  XmlWriter& close(std::string_view tag);
  // <tag>text</tag>, or <tag /> when the text is empty.
  XmlWriter& element(std::string_view tag, std::string_view text);
  // The same, put together in one piece where the tag is known: listings are made of these.
  template <size_t kSize>
  XmlWriter& element(const char (&tag)[kSize], std::string_view text) {
    constexpr size_t kTag = kSize - 1, kMarks = sizeof "<></>" - 1;
    char piece[160];
    if (text.empty() || kTag * 2 + kMarks + text.size() > sizeof piece || needs_escape(text))
      return element(std::string_view(tag, kTag), text);
    end_start_tag();
    char* to = piece;
    *to++ = '<';
    to = std::copy_n(tag, kTag, to);
    *to++ = '>';
    to = std::copy_n(text.data(), text.size(), to);
    *to++ = '<';
    *to++ = '/';
    to = std::copy_n(tag, kTag, to);
    *to++ = '>';
    out_.append(piece, static_cast<size_t>(to - piece));
    return *this;
  }
  XmlWriter& element(std::string_view tag, uint64_t number);
  // Only when the text is not empty.
  XmlWriter& optional(std::string_view tag, std::string_view text);

  std::string take();

 private:
  void end_start_tag() {
    if (in_start_tag_) out_ += '>';
    in_start_tag_ = false;
  }
  static bool needs_escape(std::string_view text);

  std::string out_;
  bool in_start_tag_ = false;
};

// Whether XML 1.0 can carry the text at all (most control characters cannot be written even as
// references).
bool xml_can_hold(std::string_view utf8);

}  // namespace kyanite::wire
