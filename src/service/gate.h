// The first steps of every call, whether it came over a connection or is made inside the server for
// the source of a copy: what does it address, who makes it, may they.
#pragma once

#include "base/task.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::service {

// Host and path to account, service and resource. Fills target, query and endpoint of the call.
wire::Result<void> resolve(Call& call);

// Who makes the call, by its Authorization header or the SAS in its query. Fills call.caller.
wire::Result<void> authenticate(Call& call);

// Whether the caller may run call.operation. Fills call.cause. The container's record is read only
// for those who need it: public access and stored policies.
Task<wire::Result<void>> authorize(Call& call);

}  // namespace kyanite::service
