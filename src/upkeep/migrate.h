// Brings a data directory of an earlier format to the newest. A server does so by itself when it
// starts; this is for those who want to know before, or apart from a start.
#pragma once

#include <string>

#include "base/result.h"

namespace kyanite::upkeep {

struct Migration {
  std::string text;  // What was done, or would be, as sentences. So is the error.
};
Result<Migration, std::string> migrate(const std::string& location, bool dry_run);

}  // namespace kyanite::upkeep
