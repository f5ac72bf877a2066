// The patterns of QUERY_DIRECTORY ([MS-FSA] 2.1.4.4):
//
//   *   any characters, also none
//   ?   one character
//   <   as *, but it goes no further than through the last dot of the name (DOS_STAR)
//   >   one character that is no dot; none before a dot and at the end (DOS_QM)
//   "   a dot; nothing at the end (DOS_DOT)
//
// "*.*" is everything. Names are compared as they are: give both in folded form, which leaves the
// characters above alone. A character is a code point.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite::smb {

class Wildcard {
 public:
  // No name is as long as this, in characters, and matching takes at most this many steps for each
  // character of a name.
  static constexpr size_t kMaxCharacters = 512;

  // Of a pattern in UTF-8. Nothing if it is empty or too long.
  static std::optional<Wildcard> parse(std::string_view pattern);

  // Whether there can be more than one such name.
  bool is_pattern() const { return !literal_; }
  bool matches(std::string_view name) const;
  // Matching takes so long that no thread should do it for which others wait.
  bool is_costly() const { return !all_ && !literal_ && parts_.size() > kFewCharacters; }

 private:
  static constexpr size_t kFewCharacters = 32;

  // What stands for more than itself is above all code points.
  enum Special : char32_t { kStar = 0x110000, kAny, kDosStar, kDosAny, kDosDot };

  bool all_ = false;      // Matches everything.
  bool literal_ = false;  // Matches itself.
  std::string text_;
  std::vector<char32_t> parts_;
};

}  // namespace kyanite::smb
