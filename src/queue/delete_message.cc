// Delete Message: DELETE /{queue}/messages/{messageid}?popreceipt
#include "queue/handlers.h"
#include "queue/parameters.h"
#include "queue/queue.h"

namespace kyanite::queue {

Outcome delete_message(service::Call& call) {
  auto ticket = decode_ticket(call);
  if (!ticket) co_return ticket.error();
  auto messages = co_await open_messages(call);
  if (!messages) co_return messages.error();
  if (!*ticket) co_return co_await unknown_ticket(call, *messages);
  auto removed = co_await discard(*messages, **ticket, call.now);
  if (!removed) co_return removed.error();
  co_return http::Reply(204);
}

}  // namespace kyanite::queue
