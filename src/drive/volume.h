// A share as the volume that clients take it for.
#pragma once

#include "base/task.h"
#include "drive/exchange.h"
#include "drive/open.h"
#include "smb/info.h"
#include "smb/query.h"

namespace kyanite::drive {

// Never 0.
uint64_t volume_id(const tree::Tree& tree);

Task<Result<smb::InfoOutput, smb::Status>> volume_info(Exchange& exchange, Open& open,
                                                       const smb::QueryInfoRequest& request);

}  // namespace kyanite::drive
