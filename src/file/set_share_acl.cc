// Set Share ACL: PUT /{share}?restype=share&comp=acl
#include "auth/sas.h"
#include "concurrency/etag.h"
#include "file/handlers.h"
#include "file/share.h"
#include "headers/changed.h"
#include "transfer/body.h"

namespace kyanite::file {

Outcome set_share_acl(service::Call& call) {
  auto body = co_await transfer::read_body(call, transfer::kMaxXmlBody);
  if (!body) co_return body.error();
  auto policies =
      account::parse_access_policies(*body, auth::service_permissions(call.target.service));
  if (!policies) co_return policies.error();
  auto edit = [&](Share& share) -> wire::Result<http::Reply> {
    share.policies.clear();
    for (const auto& policy : *policies) share.policies.push_back({policy});
    share.changed = concurrency::next_modified(call.now, share.changed);
    http::Reply reply(200);
    headers::encode_changed(reply, share.changed);
    return reply;
  };
  co_return co_await update_share(call, edit);
}

}  // namespace kyanite::file
