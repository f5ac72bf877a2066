// User metadata: x-ms-meta-* headers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "http/message.h"
#include "wire/error.h"

namespace kyanite::service {

// Names as sent (case preserved), values as sent.
using Metadata = std::vector<std::pair<std::string, std::string>>;

inline constexpr size_t kMaxMetadataBytes = 8 * 1024;

// From request headers. Names are C# identifiers and unique ignoring case.
wire::Result<Metadata> decode_metadata(const http::Headers& headers);
void encode_metadata(http::Reply& reply, const Metadata& metadata);

}  // namespace kyanite::service
