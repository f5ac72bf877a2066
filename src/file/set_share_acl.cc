// Set Share ACL: PUT /{share}?restype=share&comp=acl
#include "account/receive_policies.h"
#include "file/handlers.h"
#include "file/share.h"

namespace kyanite::file {

Outcome set_share_acl(service::Call& call) {
  auto policies = co_await account::receive_access_policies(call);
  if (!policies) co_return policies.error();
  auto edit = [&](Share& share) -> wire::Result<void> {
    share.policies = *policies;
    return {};
  };
  co_return co_await update_share(call, edit);
}

}  // namespace kyanite::file
