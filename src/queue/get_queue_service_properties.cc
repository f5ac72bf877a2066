// Get Queue Service Properties: GET /?restype=service&comp=properties
#include "account/properties.h"
#include "queue/handlers.h"

namespace kyanite::queue {

Outcome get_queue_service_properties(service::Call& call) {
  auto reply = co_await account::get_service_properties(call);
  if (reply) reply->header("Cache-Control", "no-cache");
  co_return reply;
}

}  // namespace kyanite::queue
