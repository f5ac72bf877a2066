// Set and Delete Blob Immutability Policy: PUT and DELETE
// /{container}/{blob}?comp=immutabilityPolicies
//
// A locked policy can only be extended, an unlocked one be changed or deleted.
#include "blob/change_head.h"
#include "blob/handlers.h"
#include "blob/immutability.h"
#include "blob/new_blob.h"
#include "wire/date.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

Outcome set_blob_immutability_policy(Call& call) {
  if (auto offered = check_immutability_offered(call); !offered) co_return offered.error();
  auto policy = decode_immutability(call);
  if (!policy) co_return policy.error();
  if (!policy->until.set()) co_return wire::missing_header("x-ms-immutability-policy-until-date");
  if (policy->until <= call.now) {
    co_return wire::invalid_header("x-ms-immutability-policy-until-date",
                                   wire::http_date(policy->until));
  }
  auto checks = decode_checks(call, kPolicies);
  if (!checks) co_return checks.error();
  auto edit = [&](Blob& blob) -> wire::Result<void> {
    if (auto can = check_can_be_held(blob); !can) return can.error();
    const bool loosens = !policy->locked || policy->until < blob.immutability.until;
    if (blob.immutability.locked && loosens) return wire::Error(Code::kBlobImmutableDueToPolicy);
    blob.immutability = *policy;
    return {};
  };
  auto changed = co_await change_head(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  reply.header("x-ms-immutability-policy-until-date", wire::http_date(policy->until));
  reply.header("x-ms-immutability-policy-mode", policy->locked ? "locked" : "unlocked");
  co_return reply;
}

Outcome delete_blob_immutability_policy(Call& call) {
  if (auto offered = check_immutability_offered(call); !offered) co_return offered.error();
  auto checks = decode_checks(call, kPolicies);
  if (!checks) co_return checks.error();
  auto edit = [&](Blob& blob) -> wire::Result<void> {
    if (blob.immutability.locked) return wire::Error(Code::kBlobImmutableDueToPolicy);
    blob.immutability = {};
    return {};
  };
  auto changed = co_await change_head(call, *checks, edit);
  if (!changed) co_return changed.error();
  co_return http::Reply(200);
}

}  // namespace kyanite::blob
