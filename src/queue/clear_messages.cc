// Clear Messages: DELETE /{queue}/messages
//
// The queue goes on with a new incarnation, so clearing a million messages is one commit.
#include "lifetime/directory.h"
#include "queue/handlers.h"
#include "queue/queue.h"

namespace kyanite::queue {

Outcome clear_messages(service::Call& call) {
  co_return co_await abandon_messages(call, [](const Queue& queue) -> std::optional<Queue> {
    Queue next = queue;
    next.space = lifetime::new_space();
    return next;
  });
}

}  // namespace kyanite::queue
