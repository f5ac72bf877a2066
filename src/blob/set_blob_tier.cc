// Set Blob Tier: PUT /{container}/{blob}?comp=tier, also on a snapshot or version
//
// Tiers only mark a blob; all bytes live on the same device. Leaving the archive takes the time
// that the account's settings say, so that programs see the states they would see in Azure.
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
  auto priority = decode_rehydrate_priority(call);
  if (!priority) co_return priority.error();
  auto checks = decode_checks(call, kTiers);
  if (!checks) co_return checks.error();
  auto edit = [&](Blob& blob) -> wire::Result<void> {
    if (blob.type != BlobType::kBlock) return wire::Error(Code::kInvalidBlobTier);
    if (blob.rehydrate_to != Tier::kInferred && blob.rehydrate_to != **tier)
      return wire::Error(Code::kBlobBeingRehydrated);
    if (blob.tier == Tier::kArchive && **tier != Tier::kArchive) {
      // What is no blob of its own comes back by a copy only.
      if (!require_base(call)) return wire::Error(Code::kBlobOperationNotSupported);
      blob.rehydrate_to = **tier;
      blob.rehydrate_priority = *priority;
      blob.rehydrated = after_seconds(call.now, call.settings().rehydration_s);
      return {};
    }
    blob.tier = **tier;
    blob.tier_changed = call.now;
    return {};
  };
  auto changed = co_await change_head(call, *checks, edit);
  if (!changed) co_return changed.error();
  // The archive is left later, everything else at once.
  co_return http::Reply(changed->rehydrate_to != Tier::kInferred ? 202 : 200);
}

}  // namespace kyanite::blob
