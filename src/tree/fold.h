// Names that differ in case alone are the same name: each is kept as it was given and found by its
// folded form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kyanite::tree {

// In upper case, character by character. `name` is valid UTF-8.
std::string fold(std::string_view name);

}  // namespace kyanite::tree
