// What a client is told when the store fails.
#pragma once

#include "smb/numbers.h"
#include "store/store.h"

namespace kyanite::drive {

smb::Status status_of(store::Error error);

}  // namespace kyanite::drive
