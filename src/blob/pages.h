// What the operations on pages share.
#pragma once

#include <cstdint>
#include <string_view>

#include "blob/blob.h"
#include "blob/handlers.h"
#include "concurrency/sequence_number.h"
#include "headers/range.h"
#include "service/call.h"
#include "transfer/upload.h"
#include "wire/error.h"

namespace kyanite::blob {

inline constexpr uint64_t kPage = 512;
inline constexpr uint64_t kMaxPageWrite = 4 * 1024 * 1024;
inline constexpr uint64_t kMaxPageBlobBytes = uint64_t{8} << 40;

// x-ms-blob-content-length: a multiple of 512 up to 8 TiB.
wire::Result<uint64_t> decode_page_blob_size(const service::Call& call);
// x-ms-blob-sequence-number, 0 to 2^63 - 1; nothing when absent.
wire::Result<std::optional<uint64_t>> decode_sequence_number(const service::Call& call);
// x-ms-if-sequence-number-{le,lt,eq}
wire::Result<concurrency::SequenceConditions> decode_sequence_conditions(const service::Call& call);
// The range to write, required and aligned to pages.
wire::Result<Span> decode_page_range(const service::Call& call);

// Writes pages, or clears them when there are no pieces. Pieces are relative to the range.
// `uploaded` is null for a clear.
Outcome write_pages(service::Call& call, const Checks& checks, Span range,
                    const Uploaded* uploaded);

}  // namespace kyanite::blob
