// Get Share ACL: GET or HEAD /{share}?restype=share&comp=acl
#include "file/handlers.h"
#include "file/share.h"
#include "headers/changed.h"

namespace kyanite::file {

Outcome get_share_acl(service::Call& call) {
  if (auto meant = require_share(call); !meant) co_return meant.error();
  auto share = co_await read_share(call);
  if (!share) co_return share.error();
  http::Reply reply(200);
  headers::encode_changed(reply, (*share)->changed);
  reply.header("Content-Type", "application/xml");
  reply.body =
      account::write_access_policies({(*share)->policies.begin(), (*share)->policies.end()});
  co_return reply;
}

}  // namespace kyanite::file
