// What is written through: durable before its reply, whichever request wrote it.
#pragma once

#include "base/task.h"
#include "drive/exchange.h"
#include "drive/open.h"
#include "tree/error.h"

namespace kyanite::drive {

// To be awaited after something was written, with `asked` where the request itself wants it to be
// durable: stores it if it must be.
Task<tree::Result<void>> write_through(Exchange& exchange, Open& open, bool asked = false);

}  // namespace kyanite::drive
