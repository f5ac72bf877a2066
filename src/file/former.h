// Former states of entries, which are kept as long as a snapshot of the share shows them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/task.h"
#include "store/store.h"

namespace kyanite::file {

// Removes former states that no snapshot shows any more, from shares of the account that had a
// snapshot deleted; at most about `most` of them, so that it can go on with the next call. And of
// contents that are dead in the account's shares, as many leaves.
Task<store::Result<void>> purge_former(store::Store& store, std::string_view account, uint64_t most,
                                       Time now);

}  // namespace kyanite::file
