// Get Queue Service Stats: GET /?restype=service&comp=stats
#include "account/stats.h"
#include "queue/handlers.h"

namespace kyanite::queue {

Outcome get_queue_service_stats(service::Call& call) {
  auto reply = co_await account::get_service_stats(call);
  if (reply) reply->header("Cache-Control", "no-cache");
  co_return reply;
}

}  // namespace kyanite::queue
