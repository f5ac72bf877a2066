// Who is calling: verifies the Authorization header or the SAS in the query. Pure but for a
// per-thread cache of prepared MACs; the time is passed in and nothing is read from disk or
// network.
#pragma once

#include <string>

#include "auth/account.h"
#include "auth/caller.h"
#include "auth/target.h"
#include "base/clock.h"
#include "http/message.h"
#include "wire/error.h"
#include "wire/version.h"

namespace kyanite::wire {
class Query;
}

namespace kyanite::auth {

class TokenRules;

struct Settings {
  const Accounts* accounts = nullptr;       // Never null while serving.
  const TokenRules* token_rules = nullptr;  // null: bearer tokens are refused.
};

// Says who is calling in `caller`, which is as it was made: it is large, so it is filled where it
// stays. A request without any credentials gives an anonymous caller; a wrong credential is an
// error even where anonymous access would do. The caller's policy, if it names one, is still
// pending: see apply_policy(). `version` is the one that is spoken: a part of a batch may have it
// from the batch.
wire::Result<void> authenticate(const http::Request& request, const wire::Query& query,
                                const Target& target, const Settings& settings,
                                wire::Version version, Time now, Caller& caller);

// The value of WWW-Authenticate that must accompany every 401 reply.
std::string challenge(const Settings& settings);

}  // namespace kyanite::auth
