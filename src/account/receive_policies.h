// The body of Set Container ACL and its like.
#pragma once

#include <vector>

#include "account/access_policies.h"
#include "base/task.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::account {

// The access policies that a request sends for what it addresses, as they are to be stored.
Task<wire::Result<std::vector<StoredPolicy>>> receive_access_policies(service::Call& call);

}  // namespace kyanite::account
