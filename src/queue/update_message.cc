// Update Message: PUT /{queue}/messages/{messageid}?popreceipt&visibilitytimeout
#include "queue/handlers.h"
#include "queue/parameters.h"
#include "queue/queue.h"
#include "wire/date.h"

namespace kyanite::queue {

Outcome update_message(service::Call& call) {
  auto ticket = decode_ticket(call);
  if (!ticket) co_return ticket.error();
  auto visibility = decode_update_visibility(call);
  if (!visibility) co_return visibility.error();
  auto text = co_await read_message_text(call);
  if (!text) co_return text.error();
  auto messages = co_await open_messages(call);
  if (!messages) co_return messages.error();
  if (!*ticket) co_return co_await unknown_ticket(call, *messages);
  auto standing = co_await update(*messages, **ticket, call.now, *visibility, std::move(*text));
  if (!standing) co_return standing.error();
  http::Reply reply(204);
  reply.header("x-ms-popreceipt", standing->receipt().text());
  reply.header("x-ms-time-next-visible", wire::http_date(standing->place.position.visible));
  co_return reply;
}

}  // namespace kyanite::queue
