// What replies about paths have in common.
#pragma once

#include "blob/blob.h"
#include "http/message.h"
#include "service/call.h"

namespace kyanite::datalake {

// Content headers, ETag, lease, times, x-ms-properties; for Read and Get Properties.
void encode_path(http::Reply& reply, const service::Call& call, const blob::FoundBlob& found,
                 bool with_properties);

}  // namespace kyanite::datalake
