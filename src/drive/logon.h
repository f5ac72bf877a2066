// What logging on to a new session and binding a connection to one have in common.
#pragma once

#include <string>
#include <string_view>

#include "auth/ntlm.h"
#include "auth/refusal.h"
#include "base/result.h"
#include "base/task.h"
#include "drive/exchange.h"
#include "drive/sessions.h"
#include "smb/session.h"

namespace kyanite::drive {

// Makes the connection a further channel of a session: SESSION_SETUP with the flag for it.
Task<Reply> bind_session(Exchange& exchange, const smb::SessionSetupRequest& request);

// What the account demands of the connection, or why it cannot have it.
Result<Terms, std::string_view> terms_of(const Connection& connection, std::string_view account);

// For the log: the user and where they sit.
std::string describe(const auth::ntlm::Session& logon);
void log_refusal(const Connection& connection, const std::string& whom, std::string_view why);

smb::Status status_of(auth::Refusal refusal);

// A logon failed: waits as long as its peer deserves it.
Task<void> slow_down(Connection& connection);

}  // namespace kyanite::drive
