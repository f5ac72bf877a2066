// Set Container ACL: PUT /{container}?restype=container&comp=acl
#include "auth/sas.h"
#include "blob/container.h"
#include "blob/handlers.h"
#include "blob/public_access.h"
#include "transfer/body.h"

namespace kyanite::blob {

Outcome set_container_acl(service::Call& call) {
  auto access = decode_public_access(call);
  if (!access) co_return access.error();
  auto body = co_await transfer::read_body(call, transfer::kMaxXmlBody);
  if (!body) co_return body.error();
  auto policies =
      account::parse_access_policies(*body, auth::service_permissions(call.target.service));
  if (!policies) co_return policies.error();
  auto edit = [&](Container& container) {
    container.public_access = *access;
    container.policies.clear();
    for (const auto& policy : *policies) container.policies.push_back({policy});
  };
  auto changed = co_await update_container(call, concurrency::kAcceptsDates, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  encode_changed(reply, *changed);
  co_return reply;
}

}  // namespace kyanite::blob
