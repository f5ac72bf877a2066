// Names and paths in a tree: what they may be, how a path is taken apart, and under what a name is
// stored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tree/error.h"

namespace kyanite::tree {

// How trees differ in their names. Lengths are in UTF-16 units.
struct NameRules {
  // Names that differ in case alone are the same name, and names that Windows could not open are
  // refused. Else every name is itself.
  bool folded = true;
  size_t max_name = 255;
  size_t max_path = 2048;
  size_t max_depth = 250;  // components
};
inline constexpr NameRules kShareNames{};                       // SMB's, for file shares
inline constexpr NameRules kExactNames{false, 1024, 1024, 63};  // Data Lake's

// The components of a path from the root on; none for the root itself.
using Path = std::vector<std::string>;

// Slashes at the end do not count. Without `keep_dots` names lose their trailing dots, as Windows
// does it; exact names never do. kBadText, kBadName, kNameTooLong, kPathTooLong, kPathTooDeep.
Result<Path> parse_path(const NameRules& rules, std::string_view text, bool keep_dots);

// What a name is stored and found under. `name` is valid UTF-8.
std::string stored_name(const NameRules& rules, std::string_view name);

}  // namespace kyanite::tree
