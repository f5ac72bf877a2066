// How much of a message may be head: what passes these is refused before it costs memory. Bodies
// are limited by the operations that read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace kyanite::http {

// A file path of 2,048 characters, each percent-encoded UTF-8, with a signature and a filter behind
// it. Else 414.
inline constexpr size_t kMaxTargetBytes = 32 * 1024;
// Request line and header lines together, with their line ends. Else 431.
inline constexpr size_t kMaxHeadBytes = 64 * 1024;
// Metadata may consist of many short lines. Else 431.
inline constexpr size_t kMaxHeaderLines = 512;
// Size, extensions and line end of one chunk of a chunked body.
inline constexpr size_t kMaxChunkLineBytes = 1024;
// All lines behind the last chunk.
inline constexpr size_t kMaxTrailerBytes = 8 * 1024;
// Lengths stay usable as file offsets.
inline constexpr uint64_t kMaxBodyBytes = std::numeric_limits<int64_t>::max();

}  // namespace kyanite::http
