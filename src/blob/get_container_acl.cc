// Get Container ACL: GET or HEAD /{container}?restype=container&comp=acl
#include "blob/container.h"
#include "blob/handlers.h"

namespace kyanite::blob {

Outcome get_container_acl(service::Call& call) {
  auto container = co_await read_container(call);
  if (!container) co_return container.error();
  http::Reply reply(200);
  encode_changed(reply, container->changed);
  if (container->public_access != auth::PublicAccess::kNone) {
    reply.header("x-ms-blob-public-access", name(container->public_access));
  }
  reply.header("Content-Type", "application/xml");
  reply.body =
      account::write_access_policies({container->policies.begin(), container->policies.end()});
  co_return reply;
}

}  // namespace kyanite::blob
