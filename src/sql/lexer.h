// The text of a statement as tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kyanite::sql {

struct Token {
  enum class Kind {
    kWord,    // An identifier or a keyword, as it was written.
    kQuoted,  // "An identifier", without its quotes.
    kString,  // 'text', without its quotes.
    kNumber,
    kSymbol,  // One or two characters.
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string text;
  size_t at = 0;  // In the statement.

  bool is(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
};

// Why a statement is refused, in words for who wrote it.
struct SyntaxError {
  std::string message;
};

// At the end there is always a kEnd.
Result<std::vector<Token>, SyntaxError> tokenize(std::string_view text);

}  // namespace kyanite::sql
