// The words of a $filter.
#pragma once

#include <string_view>

#include "table/filter.h"

namespace kyanite::table {

struct Token {
  enum class Kind { kEnd, kOpen, kClose, kWord, kLiteral, kBad };
  Kind kind = Kind::kEnd;
  std::string_view text;  // kWord: a property, an operator or a keyword
  Literal literal;        // kLiteral
};

class FilterLexer {
 public:
  explicit FilterLexer(std::string_view text) : text_(text) {}
  Token next();
  // Where the last token ended; what error messages name.
  size_t position() const { return position_; }

 private:
  Token word();
  Token number();
  // What stands between quotes from here on, quotes undoubled; nothing when it does not end.
  std::optional<std::string> quoted();
  Token typed(std::string_view type);

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace kyanite::table
