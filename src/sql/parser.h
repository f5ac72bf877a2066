// The text of a SELECT statement to its tree. What is not of the language, or beyond its limits, is
// refused with words that say where and what.
#pragma once

#include <string_view>

#include "base/result.h"
#include "sql/lexer.h"
#include "sql/statement.h"

namespace kyanite::sql {

Result<Statement, SyntaxError> parse(std::string_view text);

}  // namespace kyanite::sql
