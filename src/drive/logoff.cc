// LOGOFF: a session and all it has are over.
#include "drive/commands.h"
#include "drive/connection.h"
#include "smb/session.h"

namespace kyanite::drive {

Task<Reply> logoff(Exchange& exchange) {
  const auto request = smb::decode<smb::LogoffRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  co_await exchange.connection.end_session(exchange.session, OpenEnd::kLoggedOff, &exchange);
  co_return reply(exchange, smb::LogoffReply());
}

}  // namespace kyanite::drive
