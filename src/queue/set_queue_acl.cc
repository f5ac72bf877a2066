// Set Queue ACL: PUT /{queue}?comp=acl
#include "auth/sas.h"
#include "queue/handlers.h"
#include "queue/queue.h"
#include "transfer/body.h"

namespace kyanite::queue {

Outcome set_queue_acl(service::Call& call) {
  auto body = co_await transfer::read_body(call, transfer::kMaxXmlBody);
  if (!body) co_return body.error();
  auto policies =
      account::parse_access_policies(*body, auth::service_permissions(call.target.service));
  if (!policies) co_return policies.error();
  co_return co_await update_queue(call, [&](Queue& queue) {
    queue.policies.clear();
    for (const auto& policy : *policies) queue.policies.push_back({policy});
  });
}

}  // namespace kyanite::queue
