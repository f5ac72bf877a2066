// Set Queue ACL: PUT /{queue}?comp=acl
#include "account/receive_policies.h"
#include "queue/handlers.h"
#include "queue/queue.h"

namespace kyanite::queue {

Outcome set_queue_acl(service::Call& call) {
  auto policies = co_await account::receive_access_policies(call);
  if (!policies) co_return policies.error();
  co_return co_await update_queue(call, [&](Queue& queue) { queue.policies = *policies; });
}

}  // namespace kyanite::queue
