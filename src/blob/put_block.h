// What Put Block and Put Block From URL share.
#pragma once

#include <cstdint>
#include <string>

#include "base/task.h"
#include "blob/blob.h"
#include "content/content.h"
#include "service/call.h"
#include "wire/error.h"
#include "wire/version.h"

namespace kyanite::blob {

inline constexpr Rules kStages{.use = concurrency::LeaseUse::kExclusive,
                               .operation = concurrency::Operation::kCreate,
                               .accepts = concurrency::kAcceptsNone,
                               .changes_data = false,
                               .key = KeyUse::kSets,
                               .needs_online = true};

uint64_t max_block_bytes(wire::Version version);

// blockid, decoded from base64.
wire::Result<std::string> decode_block_id(const service::Call& call);

// Keeps the pieces as the uncommitted block of that (decoded) id, durably. Checks lease, blob type
// and length of the id.
Task<wire::Result<void>> stage_block(service::Call& call, const Checks& checks,
                                     const std::string& id, const content::Pieces& pieces);

}  // namespace kyanite::blob
