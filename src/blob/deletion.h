// Deleting heads of one blob, for both APIs: what is held stays, and what the account keeps is
// kept.
#pragma once

#include <vector>

#include "account/properties.h"
#include "base/task.h"
#include "blob/heads.h"
#include "blob/place.h"
#include "service/call.h"
#include "store/store.h"
#include "wire/error.h"

namespace kyanite::blob {

// Whether a legal hold or a policy keeps it; 409 where one does.
wire::Result<void> check_deletable(const service::Call& call, const Blob& blob);

// Removes heads for good, or marks them deleted where soft delete is on; where there are
// directories it is for whole paths. The commit is guarded by them.
Task<wire::Result<void>> delete_heads(service::Call& call, const Place& place,
                                      std::vector<Head> heads,
                                      const account::RetentionPolicy& retention,
                                      store::Commit& commit);

}  // namespace kyanite::blob
