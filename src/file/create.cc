#include "file/create.h"

#include "auth/authorize.h"
#include "base/random.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {
EntryId new_id() {
  while (true) {
    if (const EntryId id = random_u64(); id != kRootId) return id;
  }
}
}  // namespace

wire::Result<CreationOrder> decode_creation(const Call& call) {
  CreationOrder order;
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) return metadata.error();
  order.metadata = std::move(*metadata);
  auto smb = decode_smb_order(call);
  if (!smb) return smb.error();
  order.smb = std::move(*smb);
  return order;
}

Entry new_entry(const Call& call, const CreationOrder& order, std::string name, bool directory) {
  Entry entry;
  entry.name = std::move(name);
  entry.directory = directory;
  entry.id = new_id();
  entry.changed = call.now;
  entry.metadata = order.metadata;
  apply_to_new(call, order.smb, entry);
  return entry;
}

void take_place_of(const Call& call, const Entry& before, Entry& entry) {
  entry.name = before.name;
  entry.id = before.id;
  entry.changed = before.changed;
  entry.lease = before.lease;
  touch(call, entry);
}

wire::Result<void> check_replaced(const Call& call, const std::optional<std::string>& lease_id,
                                  const Found* before, bool ignore_read_only) {
  if (before != nullptr && before->entry->directory)
    return wire::Error(Code::kResourceTypeMismatch);
  const Rules rules{Kind::kFile, concurrency::FileOperation::kCreateFile,
                    concurrency::LeaseUse::kExclusive, true, ignore_read_only};
  auto passed =
      check_entry(call, rules, lease_id, before != nullptr ? before->entry.get() : nullptr);
  if (!passed) return passed.error();
  if (before != nullptr && !auth::may_overwrite(call.caller))
    return wire::Error(Code::kAuthorizationPermissionMismatch);
  return {};
}

}  // namespace kyanite::file
