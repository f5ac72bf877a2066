// The paths that requests address.
#pragma once

#include <string_view>

#include "service/call.h"
#include "tree/names.h"
#include "wire/error.h"

namespace kyanite::file {

using tree::Path;

// The path that the request addresses; x-ms-allow-trailing-dot says whether dots stay. 400
// InvalidResourceName for what no name may have, OutOfRangeInput for one that is too long,
// InvalidFileOrDirectoryPathName for a path that is too long or too deep.
wire::Result<Path> decode_path(const service::Call& call);

// Whether the dots of a source's path stay, which its own call is told by SourceCall.
inline constexpr std::string_view kSourceDots = "x-ms-source-allow-trailing-dot";

// x-ms-allow-trailing-dot or its like: true or false.
wire::Result<bool> decode_flag(const service::Call& call, std::string_view header);

}  // namespace kyanite::file
