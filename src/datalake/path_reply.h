// What replies about paths have in common.
#pragma once

#include <string>

#include "blob/blob.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

// Content headers, ETag, lease, times, x-ms-properties; for Read and Get Properties.
void encode_path(http::Reply& reply, const service::Call& call, const blob::FoundBlob& found,
                 bool with_properties);

// x-ms-client-transaction-id: what a client calls a creation or a rename. Its path shows it
// afterwards, so that a client which lost the reply finds out whether it was the one. "" without.
wire::Result<std::string> decode_transaction(const service::Call& call);

}  // namespace kyanite::datalake
