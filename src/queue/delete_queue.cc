// Delete Queue: DELETE /{queue}
//
// The name is free at once and the messages are unreachable at once.
#include "queue/handlers.h"
#include "queue/queue.h"

namespace kyanite::queue {

Outcome delete_queue(service::Call& call) {
  co_return co_await abandon_messages(
      call, [](const Queue&) -> std::optional<Queue> { return std::nullopt; });
}

}  // namespace kyanite::queue
