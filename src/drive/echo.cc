// ECHO: is the server there?
#include "drive/commands.h"
#include "smb/session.h"

namespace kyanite::drive {

Task<Reply> echo(Exchange& exchange) {
  const auto request = smb::decode<smb::EchoRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  co_return reply(exchange, smb::EchoReply());
}

}  // namespace kyanite::drive
