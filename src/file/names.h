// Paths within a share: Azure's rules for names, and how a path is taken apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/call.h"
#include "wire/error.h"

namespace kyanite::file {

inline constexpr size_t kMaxName = 255;   // UTF-16 units
inline constexpr size_t kMaxPath = 2048;  // UTF-16 units
inline constexpr size_t kMaxDepth = 250;  // components

// The components of a path from the root on; none for the root itself.
using Path = std::vector<std::string>;

// Slashes at the end do not count. Without `keep_dots` names lose their trailing dots, as Windows
// does it. 400 InvalidResourceName for what no name may have, OutOfRangeInput for one that is too
// long, InvalidFileOrDirectoryPathName for a path that is too long or too deep.
wire::Result<Path> parse_path(std::string_view text, bool keep_dots);

// The path that the request addresses; x-ms-allow-trailing-dot says whether dots stay.
wire::Result<Path> decode_path(const service::Call& call);

// Whether the dots of a source's path stay, which its own call is told by SourceCall.
inline constexpr std::string_view kSourceDots = "x-ms-source-allow-trailing-dot";

// x-ms-allow-trailing-dot or its like: true or false.
wire::Result<bool> decode_flag(const service::Call& call, std::string_view header);

// With slashes between the components.
std::string join(const Path& path);

}  // namespace kyanite::file
