// What clients sent, told back to them.
#pragma once

#include <string>
#include <string_view>

namespace kyanite::wire {

// The text as XML and JSON can hold it: U+FFFD in the place of every byte that belongs to no
// character, and of characters that no document may have.
std::string readable(std::string_view text);

}  // namespace kyanite::wire
