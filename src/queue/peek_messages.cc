// Peek Messages: GET /{queue}/messages?peekonly=true
#include "queue/handlers.h"
#include "queue/parameters.h"
#include "queue/queue.h"

namespace kyanite::queue {

Outcome peek_messages(service::Call& call) {
  auto count = decode_message_count(call);
  if (!count) co_return count.error();
  auto messages = co_await open_messages(call);
  if (!messages) co_return messages.error();
  auto seen = co_await peek(*messages, call.now, *count);
  if (!seen) co_return seen.error();
  co_return uncached_document(write_messages(*seen, Shown::kPeeked));
}

}  // namespace kyanite::queue
