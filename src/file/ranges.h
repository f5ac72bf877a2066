// What the operations on ranges of files share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "file/entry.h"
#include "headers/range.h"
#include "transfer/upload.h"

namespace kyanite::file {

inline constexpr uint64_t kMaxFileBytes = uint64_t{4} << 40;
inline constexpr uint64_t kMaxRangeWrite = 4 * 1024 * 1024;
// The unit in which cleared bytes are given back.
inline constexpr uint64_t kSector = 512;

inline constexpr std::string_view kFileSizeHeader = "x-ms-content-length";
inline constexpr std::string_view kDefaultContentType = "application/octet-stream";

// x-ms-content-length; nothing when absent. 400 OutOfRangeInput below 0 and beyond 4 TiB.
wire::Result<std::optional<uint64_t>> decode_file_size(const service::Call& call);

// The range to write: both its ends are required.
wire::Result<headers::Span> decode_write_range(const service::Call& call);

// Writes the pieces of `uploaded` (from offset 0 of the range on) or, when it is null, zeros.
Outcome write_range(service::Call& call, headers::Span range, const transfer::Uploaded* uploaded);

}  // namespace kyanite::file
