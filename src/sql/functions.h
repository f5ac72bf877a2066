// The functions of the language, given their arguments. Null or missing in, null out.
#pragma once

#include <span>

#include "sql/statement.h"
#include "sql/value.h"

namespace kyanite::sql {

// How many bytes the character at `at` has.
size_t character_bytes(std::string_view text, size_t at);

// +, -, *, / and % of numbers; a number of days added to or taken from a timestamp.
Evaluated<Value> arithmetic(Op op, const Value& left, const Value& right);
Evaluated<Value> negate(const Value& value);

// Functions whose arguments are all evaluated first: of strings and of dates.
Evaluated<Value> call_function(const Expression& function, std::span<const Value> arguments,
                               Scratch& scratch);

// %: any text. _: a character. [a-f] and [^a-f]: a character of them, or of all others. What
// follows `escape` (0: none) stands for itself. Takes time in the order of the product of both
// lengths at most, charged to the scratch.
Evaluated<bool> is_like(std::string_view text, std::string_view pattern, char escape,
                        Scratch& scratch);

}  // namespace kyanite::sql
