// When a blob is to vanish, as headers say it.
#pragma once

#include "base/clock.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

// x-ms-expiry-option and x-ms-expiry-time; unset: never.
wire::Result<Time> decode_expiry(const service::Call& call, Time created);

}  // namespace kyanite::blob
