// When an object was last changed, as replies tell it.
#pragma once

#include "base/clock.h"
#include "http/message.h"

namespace kyanite::headers {

// ETag and Last-Modified of an object last changed then.
void encode_changed(http::Reply& reply, Time changed);

}  // namespace kyanite::headers
