#include "blob/deletion.h"

#include "service/storage.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

wire::Result<void> check_deletable(const Call& call, const Blob& blob) {
  if (blob.legal_hold) return wire::Error(Code::kBlobImmutableDueToLegalHold);
  if (blob.immutability.until > call.now) return wire::Error(Code::kBlobImmutableDueToPolicy);
  return {};
}

Task<wire::Result<void>> delete_heads(Call& call, const Place& place, std::vector<Head> heads,
                                      const account::RetentionPolicy& retention,
                                      store::Commit& commit) {
  const bool keeps = retention.enabled && !place.is_apart();
  for (auto& head : heads) {
    if (auto allowed = check_deletable(call, head.blob); !allowed) co_return allowed.error();
    const auto key = head_key(place, head.row);
    commit.expect(key, head.record);
    if (!keeps) continue;
    head.blob.deleted = call.now;
    head.blob.removal = after_seconds(call.now, int64_t{retention.days} * 24 * 3600);
    commit.put(key, service::to_record(head.blob));
  }
  if (keeps) co_return wire::Result<void>();
  auto removed = co_await remove_heads(call.store(), place, heads, commit);
  if (!removed) co_return service::storage_error(removed.error());
  co_return wire::Result<void>();
}

}  // namespace kyanite::blob
