// Former states of entries, which are kept as long as a snapshot of the share shows them.
#pragma once

#include <cstdint>

#include "base/task.h"
#include "store/store.h"

namespace kyanite::tree {

// Removes former states that no snapshot shows any more, if the share had a snapshot deleted; at
// most about `most` of them, so that it can go on with the next call.
Task<store::Result<void>> purge_former(store::Store& store, store::SpaceId space, uint64_t most);

}  // namespace kyanite::tree
