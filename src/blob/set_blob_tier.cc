// Set Blob Tier: PUT /{container}/{blob}?comp=tier, also on a snapshot or version
//
// Tiers only mark a blob; all bytes live on the same device. Leaving the archive takes effect at
// once (200 would claim more than the service does, so the reply is its 202): the blob can be read
// again as soon as it is said to be.
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/change_head.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {
constexpr Rules kTiers{concurrency::LeaseUse::kShared, concurrency::Operation::kUpdate,
                       concurrency::kAcceptsTags, Keep::kNothing, false};
}

Outcome set_blob_tier(Call& call) {
  auto tier = decode_tier(call, "x-ms-access-tier");
  if (!tier) co_return tier.error();
  if (!*tier) co_return wire::missing_header("x-ms-access-tier");
  const auto priority = call.headers().get("x-ms-rehydrate-priority");
  if (!priority.empty() && !equals_ignoring_case(priority, "High") &&
      !equals_ignoring_case(priority, "Standard")) {
    co_return wire::invalid_header("x-ms-rehydrate-priority", priority);
  }
  auto checks = decode_checks(call, kTiers);
  if (!checks) co_return checks.error();
  auto edit = [&](Blob& blob) -> wire::Result<http::Reply> {
    if (blob.type != BlobType::kBlock) return wire::Error(Code::kAccessTierNotSupportedForBlobType);
    const bool rehydrates = blob.tier == Tier::kArchive && **tier != Tier::kArchive;
    blob.tier = **tier;
    blob.tier_changed = call.now;
    return http::Reply(rehydrates ? 202 : 200);
  };
  co_return co_await change_head(call, *checks, edit);
}

}  // namespace kyanite::blob
