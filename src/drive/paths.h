// Paths as clients of SMB write them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "smb/numbers.h"
#include "tree/names.h"

namespace kyanite::drive {

// From the root of the share, with \ or / between the parts. A leading one is INVALID_PARAMETER,
// unless it is tolerated. "." and ".." are taken as they are meant, whatever is stored; a path that
// leads above the root is OBJECT_PATH_SYNTAX_BAD. The name of the
// stream that every file has is taken off; any other one, and what is no name, is
// OBJECT_NAME_INVALID.
struct WirePath {
  tree::Path path;
  bool names_directory = false;  // There is a \ at the end.
};
Result<WirePath, smb::Status> parse_wire_path(const tree::NameRules& rules, std::string_view text,
                                              bool leading_slash);

}  // namespace kyanite::drive
