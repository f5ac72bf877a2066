// x-ms-properties: metadata as Data Lake writes it, all in one header: name=base64,name=base64.
#pragma once

#include <optional>
#include <string>

#include "headers/metadata.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

// Nothing when the header is absent; an empty one is no properties.
wire::Result<std::optional<headers::Metadata>> decode_properties(const service::Call& call);
std::string encode_properties(const headers::Metadata& metadata);

}  // namespace kyanite::datalake
