// Set Container ACL: PUT /{container}?restype=container&comp=acl
#include "account/receive_policies.h"
#include "blob/container.h"
#include "blob/handlers.h"
#include "blob/public_access.h"

namespace kyanite::blob {

Outcome set_container_acl(service::Call& call) {
  auto access = decode_public_access(call);
  if (!access) co_return access.error();
  auto policies = co_await account::receive_access_policies(call);
  if (!policies) co_return policies.error();
  auto edit = [&](Container& container) {
    container.public_access = *access;
    container.policies = *policies;
  };
  auto changed = co_await update_container(call, concurrency::kAcceptsDates, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  encode_changed(reply, *changed);
  co_return reply;
}

}  // namespace kyanite::blob
