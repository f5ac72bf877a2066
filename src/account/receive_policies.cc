#include "account/receive_policies.h"

#include "auth/sas.h"
#include "transfer/body.h"

namespace kyanite::account {

Task<wire::Result<std::vector<StoredPolicy>>> receive_access_policies(service::Call& call) {
  auto body = co_await transfer::read_body(call, transfer::kMaxXmlBody);
  if (!body) co_return body.error();
  auto policies = parse_access_policies(*body, auth::service_permissions(call.target.service));
  if (!policies) co_return policies.error();
  std::vector<StoredPolicy> stored;
  for (const auto& policy : *policies) stored.push_back({policy});
  co_return std::move(stored);
}

}  // namespace kyanite::account
