// User metadata: x-ms-meta-* headers.
#pragma once

#include "http/message.h"
#include "object/metadata.h"
#include "wire/error.h"
#include "wire/xml.h"

namespace kyanite::headers {

using object::Metadata;

inline constexpr size_t kMaxMetadataBytes = 8 * 1024;

// From request headers. Names are C# identifiers and unique ignoring case.
wire::Result<Metadata> decode_metadata(const http::Headers& headers);
void encode_metadata(http::Reply& reply, const Metadata& metadata);
// The Metadata element of a listing.
void write_metadata(wire::XmlWriter& xml, const Metadata& metadata);

}  // namespace kyanite::headers
