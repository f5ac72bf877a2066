// Get User Delegation Key: POST /?restype=service&comp=userdelegationkey, the same for every
// service that has it.
#pragma once

#include "base/task.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::account {

Task<wire::Result<http::Reply>> get_user_delegation_key(service::Call& call);

}  // namespace kyanite::account
