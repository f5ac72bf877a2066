// Shared access signatures: rights lent in a query string, signed with an account key (account SAS,
// service SAS) or with a user delegation key (user delegation SAS).
#pragma once

#include <string>
#include <string_view>

#include "auth/account.h"
#include "auth/caller.h"
#include "auth/role.h"
#include "auth/target.h"
#include "base/clock.h"
#include "http/message.h"
#include "wire/error.h"
#include "wire/query.h"

namespace kyanite::auth {

// Verifies the token in the query: its form, its signature by any key of the account, its time
// window, and the address and protocol it is bound to. What a stored policy must still supply is
// left open; see apply_policy(). `roles` may be null: they limit what those who sign user
// delegation SAS may do by now.
wire::Result<Caller> verify_sas(const http::Request& request, const wire::Query& query,
                                const Target& target, const Account& account, Time now,
                                const Roles* roles = nullptr);

// All permissions that a token for a container or object, or a stored policy, may name. The service
// refuses any other.
Letters service_permissions(wire::Service service);

// start <= now < expiry, as Azure words the refusal. An unset start has begun.
wire::Result<void> check_window(Time start, Time expiry, Time now);

}  // namespace kyanite::auth
