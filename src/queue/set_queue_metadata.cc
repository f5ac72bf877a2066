// Set Queue Metadata: PUT /{queue}?comp=metadata
#include "queue/handlers.h"
#include "queue/queue.h"

namespace kyanite::queue {

Outcome set_queue_metadata(service::Call& call) {
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  co_return co_await update_queue(call, [&](Queue& queue) { queue.metadata = *metadata; });
}

}  // namespace kyanite::queue
