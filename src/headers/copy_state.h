// What a blob or file tells of the last copy into it, as headers.
#pragma once

#include "http/message.h"
#include "object/copy.h"

namespace kyanite::headers {

using object::Copy;
using object::CopyStatus;
using object::name;

// x-ms-copy-*; nothing where nothing was ever copied.
void encode_copy(http::Reply& reply, const Copy& copy);
// x-ms-copy-id and x-ms-copy-status of a copy that was just accepted.
void encode_copy_started(http::Reply& reply, const Copy& copy);

}  // namespace kyanite::headers
