// Get Queue Metadata: GET or HEAD /{queue}?comp=metadata
#include "queue/handlers.h"
#include "queue/queue.h"

namespace kyanite::queue {

Outcome get_queue_metadata(service::Call& call) {
  auto queue = co_await load_queue(call);
  if (!queue) co_return queue.error();
  auto count = co_await count_messages(messages_of(call, **queue), call.now);
  if (!count) co_return service::storage_error(count.error());
  http::Reply reply = uncached_reply();
  reply.header("x-ms-approximate-messages-count", *count);
  headers::encode_metadata(reply, (*queue)->metadata);
  co_return reply;
}

}  // namespace kyanite::queue
