// Get Container Properties and Get Container Metadata: GET or HEAD
// /{container}?restype=container[&comp=metadata]
#include "blob/container.h"
#include "blob/handlers.h"
#include "service/operation.h"
#include "wire/version.h"

namespace kyanite::blob {

Outcome get_container_properties(service::Call& call) {
  auto container = co_await read_container(call);
  if (!container) co_return container.error();
  http::Reply reply(200);
  encode_changed(reply, container->changed);
  headers::encode_metadata(reply, container->metadata);
  if (call.operation->comp == "metadata") co_return reply;
  headers::encode_lease(reply, container->lease, call.now);
  if (container->public_access != auth::PublicAccess::kNone) {
    reply.header("x-ms-blob-public-access", name(container->public_access));
  }
  reply.header("x-ms-has-immutability-policy", "false");
  reply.header("x-ms-has-legal-hold", "false");
  if (call.version >= wire::kEncryptionScopes) {
    reply.header("x-ms-default-encryption-scope", "$account-encryption-key");
    reply.header("x-ms-deny-encryption-scope-override", "false");
  }
  if (call.version >= wire::kVersionLevelImmutability) {
    reply.header("x-ms-immutable-storage-with-versioning-enabled", "false");
  }
  co_return reply;
}

}  // namespace kyanite::blob
