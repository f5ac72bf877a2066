// Get Queue ACL: GET or HEAD /{queue}?comp=acl
#include "queue/handlers.h"
#include "queue/queue.h"

namespace kyanite::queue {

Outcome get_queue_acl(service::Call& call) {
  auto queue = co_await load_queue(call);
  if (!queue) co_return queue.error();
  const std::vector<auth::AccessPolicy> policies((*queue)->policies.begin(),
                                                 (*queue)->policies.end());
  co_return uncached_document(account::write_access_policies(policies));
}

}  // namespace kyanite::queue
