// Put Message: POST /{queue}/messages
#include "queue/handlers.h"
#include "queue/parameters.h"
#include "queue/queue.h"

namespace kyanite::queue {

Outcome put_message(service::Call& call) {
  auto times = decode_put_times(call);
  if (!times) co_return times.error();
  auto text = co_await read_message_text(call);
  if (!text) co_return text.error();
  if (!*text) co_return wire::Error(wire::Code::kInvalidXmlDocument);
  auto messages = co_await open_messages(call);
  if (!messages) co_return messages.error();
  auto standing =
      co_await put(*messages, std::move(**text), call.now, times->visibility_s, times->expires);
  if (!standing) co_return standing.error();
  http::Reply reply(201);
  if (call.version >= kPutMessageReply) {
    reply.header("Content-Type", "application/xml");
    reply.body = write_messages({std::move(*standing)}, Shown::kPut);
  }
  co_return reply;
}

}  // namespace kyanite::queue
