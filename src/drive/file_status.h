// What a client is told of why something cannot be done with a file.
#pragma once

#include "smb/numbers.h"
#include "tree/error.h"

namespace kyanite::drive {

smb::Status status_of(const tree::Error& error);

}  // namespace kyanite::drive
