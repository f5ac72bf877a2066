// Get Account Information: GET or HEAD /?restype=account&comp=properties, also below a container or
// blob.
#include "blob/handlers.h"
#include "wire/version.h"

namespace kyanite::blob {

Outcome get_account_information(service::Call& call) {
  http::Reply reply(200);
  reply.header("x-ms-sku-name", "Standard_LRS");
  reply.header("x-ms-account-kind", "StorageV2");
  if (call.version >= wire::kHierarchicalNamespaceTold)
    reply.header("x-ms-is-hns-enabled", call.settings().hierarchical_namespace ? "true" : "false");
  co_return reply;
}

}  // namespace kyanite::blob
