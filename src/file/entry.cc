#include "file/entry.h"

#include <algorithm>
#include <utility>

#include "file/refusals.h"
#include "file/versions.h"
#include "headers/conditions.h"
#include "headers/copy_state.h"
#include "headers/http_properties.h"

namespace kyanite::file {

using service::Call;

namespace {

// Reading what the request addresses by rules to which it adds nothing.
Task<wire::Result<Located>> read(Call& call, const Rules& rules,
                                 const tree::Reading& reading = {}) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto tree = co_await find_tree(call);
  if (!tree) co_return tree.error();
  auto located = co_await tree::read_entry(call, *tree, *path, rules, reading);
  if (!located) co_return refusal(located.error());
  co_return std::move(*located);
}

}  // namespace

Task<wire::Result<Located>> locate(Call& call, Kind kind) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto tree = co_await find_tree(call);
  if (!tree) co_return tree.error();
  auto located = co_await tree::locate(call, *tree, *path, kind);
  if (!located) co_return refusal(located.error());
  co_return std::move(*located);
}

namespace {

Task<wire::Result<Located>> read_file(Call& call, concurrency::FileOperation operation,
                                      tree::Reading reading) {
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  const Rules rules{Kind::kFile, operation, concurrency::LeaseUse::kShared,
                    false,       false,     std::move(*lease_id)};
  co_return co_await read(call, rules, reading);
}

}  // namespace

Task<wire::Result<Located>> read_file(Call& call, concurrency::FileOperation operation) {
  return read_file(call, operation, {});
}

Task<wire::Result<Located>> read_content(Call& call,
                                         const std::optional<headers::ByteRange>& range) {
  tree::Reading reading = [&range](const Entry& file) -> tree::ByteRange {
    const uint64_t length = file.content.length;
    const uint64_t first = range ? range->first : 0;
    const uint64_t last = range && range->last ? *range->last : length;
    const uint64_t end = std::min(length, last == UINT64_MAX ? last : last + 1);
    return {first, end - std::min(first, end)};
  };
  return read_file(call, concurrency::FileOperation::kGetFile, std::move(reading));
}

Task<wire::Result<Located>> read_directory(Call& call) {
  const Rules rules{Kind::kDirectory, concurrency::FileOperation::kGetFileProperties, {}, false};
  co_return co_await read(call, rules);
}

Task<wire::Result<Changed>> change_entry(Call& call, Rules rules, const Edit& edit) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  rules.lease_id = std::move(*lease_id);
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  OwnRefusal own;
  const tree::Edit decide = [&](Entry& entry, store::Commit& commit,
                                const Located& before) -> Task<tree::Result<void>> {
    auto edited = co_await edit(entry, commit, before);
    if (!edited) co_return own.note(std::move(edited.error()));
    co_return tree::Result<void>();
  };
  auto changed = co_await tree::change_entry(call, *tree, *path, rules, decide);
  if (!changed) co_return own.tell(changed.error());
  co_return std::move(*changed);
}

http::Reply changed_reply(const Call& call, int status, const Changed& changed) {
  http::Reply reply(status);
  headers::encode_changed(reply, changed.entry->changed);
  reply.header("x-ms-request-server-encrypted", "true");
  encode_smb(reply, call, *changed.entry, changed.parent);
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
