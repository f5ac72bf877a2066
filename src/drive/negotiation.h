// Which dialect the server speaks with a client, for NEGOTIATE and for the question whether that
// was tampered with.
#pragma once

#include <vector>

#include "smb/numbers.h"

namespace kyanite::drive {

// The latest that both speak; kNone when there is none.
smb::Dialect choose_dialect(const std::vector<smb::Dialect>& offered);

}  // namespace kyanite::drive
