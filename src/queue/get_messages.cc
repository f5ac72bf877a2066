// Get Messages: GET /{queue}/messages
#include "queue/handlers.h"
#include "queue/parameters.h"
#include "queue/queue.h"

namespace kyanite::queue {

Outcome get_messages(service::Call& call) {
  auto count = decode_message_count(call);
  if (!count) co_return count.error();
  auto visibility = decode_get_visibility(call);
  if (!visibility) co_return visibility.error();
  auto messages = co_await open_messages(call);
  if (!messages) co_return messages.error();
  auto taken = co_await take(*messages, call.now, *visibility, *count);
  if (!taken) co_return taken.error();
  co_return uncached_document(write_messages(*taken, Shown::kTaken));
}

}  // namespace kyanite::queue
