// What Append Block and Append Block From URL share.
#pragma once

#include "base/task.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "concurrency/append_position.h"
#include "service/call.h"
#include "transfer/upload.h"
#include "wire/error.h"
#include "wire/version.h"

namespace kyanite::blob {

inline constexpr uint64_t kMaxAppendBlocks = 50'000;
uint64_t max_append_bytes(wire::Version version);

// x-ms-blob-condition-appendpos and -maxsize.
wire::Result<concurrency::AppendConditions> decode_append_conditions(const service::Call& call);
wire::Error append_error(concurrency::AppendError error);

// Adds uploaded bytes at the end of the blob.
Outcome append_uploaded(service::Call& call, const Checks& checks, const Uploaded& uploaded);

}  // namespace kyanite::blob
