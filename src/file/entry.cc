#include "file/entry.h"

#include "concurrency/etag.h"
#include "file/versions.h"
#include "headers/conditions.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

wire::Result<void> check_entry(const Call& call, const Rules& rules,
                               const std::optional<std::string>& lease_id, const Entry* entry) {
  if (rules.use) {
    const headers::StoredLease lease = entry != nullptr ? entry->lease : headers::StoredLease();
    if (auto use = concurrency::check_lease_use(lease, lease_id, *rules.use, call.now); !use)
      return headers::lease_use_error(use.error(), headers::Leased::kFile);
  }
  if (entry == nullptr || !rules.writes) return {};
  if (entry->copy.status == headers::CopyStatus::kPending)
    return wire::Error(Code::kPendingCopyOperation);
  if ((entry->smb.attributes & kReadOnlyAttribute) != 0 && !rules.ignores_read_only)
    return wire::Error(Code::kReadOnlyAttribute);
  return {};
}

Task<wire::Result<Located>> read_file(Call& call, concurrency::FileOperation operation) {
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto located = co_await locate(call, Kind::kFile);
  if (!located) co_return located.error();
  // What a snapshot shows nobody has open.
  if (!located->tree.shown) {
    auto admitted = co_await open_files(call).admit_reader(located->key(), operation);
    if (!admitted) co_return admitted.error();
  }
  const Rules rules{Kind::kFile, operation, concurrency::LeaseUse::kShared, false};
  if (auto passed = check_entry(call, rules, *lease_id, located->found.entry.get()); !passed)
    co_return passed.error();
  co_return std::move(*located);
}

Task<wire::Result<Located>> read_directory(Call& call) {
  auto located = co_await locate(call, Kind::kDirectory);
  if (!located) co_return located.error();
  if (!located->tree.shown) {
    auto admitted = co_await open_files(call).admit_reader(
        located->key(), concurrency::FileOperation::kGetFileProperties);
    if (!admitted) co_return admitted.error();
  }
  co_return std::move(*located);
}

void touch(const Call& call, Entry& entry) {
  entry.changed = concurrency::next_modified(call.now, entry.changed);
  concurrency::on_write(entry.lease, call.now);
}

http::Reply changed_reply(const Call& call, int status, const Entry& entry, EntryId parent) {
  http::Reply reply(status);
  headers::encode_changed(reply, entry.changed);
  reply.header("x-ms-request-server-encrypted", "true");
  encode_smb(reply, call, entry, parent);
  return reply;
}

void encode_file(http::Reply& reply, const Call& call, const Located& located) {
  const Entry& file = *located.found.entry;
  headers::encode_changed(reply, file.changed);
  headers::encode_http_properties(reply, call, file.http);
  reply.header("x-ms-type", "File").header("x-ms-server-encrypted", "true");
  encode_smb(reply, call, file, located.found.parent);
  // Leases are of the file as it is now.
  if (call.version >= kFileLeases && !located.tree.shown)
    headers::encode_lease(reply, file.lease, call.now);
  headers::encode_copy(reply, file.copy);
  headers::encode_metadata(reply, file.metadata);
}

}  // namespace kyanite::file
