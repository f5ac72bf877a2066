// TREE_DISCONNECT: what is open of the tree is closed.
#include "drive/commands.h"
#include "drive/connection.h"
#include "smb/session.h"

namespace kyanite::drive {

Task<Reply> tree_disconnect(Exchange& exchange) {
  const auto request = smb::decode<smb::TreeDisconnectRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  co_await exchange.connection.end_tree(*exchange.session, exchange.tree, &exchange);
  co_return reply(exchange, smb::TreeDisconnectReply());
}

}  // namespace kyanite::drive
