// Byte ranges of read requests.
#pragma once

#include <cstdint>
#include <optional>

#include "service/call.h"
#include "wire/error.h"

namespace kyanite::headers {

struct ByteRange {
  uint64_t first = 0;
  std::optional<uint64_t> last;  // inclusive; nothing: to the end
};

// What to read: x-ms-range, else Range; nothing when neither names one. A malformed one is ignored,
// as HTTP demands.
std::optional<ByteRange> decode_read_range(const service::Call& call);
// What to write: the same, but a malformed x-ms-range is an error.
wire::Result<std::optional<ByteRange>> decode_range(const service::Call& call);
// x-ms-source-range; nothing when it is absent.
wire::Result<std::optional<ByteRange>> decode_source_range(const service::Call& call);

// What of a content of `length` bytes the range covers: offset and count. Nothing when it starts
// past the end.
struct Span {
  uint64_t offset = 0;
  uint64_t count = 0;
};
std::optional<Span> clip(const ByteRange& range, uint64_t length);

}  // namespace kyanite::headers
