// Set File Properties: PUT /{share}/{path}?comp=properties, with x-ms-content-length resizing the
// file; Set Directory Properties: the same with restype=directory
#include "file/entry.h"
#include "file/handlers.h"
#include "file/permissions.h"
#include "file/ranges.h"
#include "headers/http_properties.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

bool names_http_properties(const Call& call) {
  const auto& names = headers::kFilePropertyHeaders;
  for (const auto header : {names.content_type, names.content_encoding, names.content_language,
                            names.content_disposition, names.cache_control, names.content_md5}) {
    if (call.headers().has(header)) return true;
  }
  return false;
}

Task<store::Result<void>> resize(Call& call, const Tree& tree, content::Content& content,
                                 uint64_t size, store::Commit& commit) {
  if (size < content.length) {
    auto cut = co_await content::overwrite(call.store(), commit, tree.content_place(), content,
                                           size, content.length - size, {}, call.deadline);
    if (!cut) co_return cut.error();
  }
  content.length = size;
  co_return store::Result<void>();
}

// The permission is noted before the entry that refers to it.
Task<wire::Result<std::string>> settle(Call& call) {
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  co_return co_await settle_permission(call, tree->space, PermissionUse::kSet);
}

}  // namespace

Outcome set_file_properties(Call& call) {
  auto size = decode_file_size(call);
  if (!size) co_return size.error();
  auto http = headers::decode_http_properties(call, headers::kFilePropertyHeaders);
  if (!http) co_return http.error();
  auto order = decode_smb_order(call);
  if (!order) co_return order.error();
  auto permission = co_await settle(call);
  if (!permission) co_return permission.error();
  const Edit edit = [&](Entry& file, store::Commit& commit,
                        const Located& before) -> Task<wire::Result<void>> {
    if (!*size || names_http_properties(call)) file.http = *http;
    if (*size) {
      auto resized = co_await resize(call, before.tree, file.content, **size, commit);
      if (!resized) co_return service::storage_error(resized.error());
    }
    apply_to_existing(call, *order, file);
    if (!permission->empty()) file.smb.permission_key = *permission;
    touch(file, call.now);
    co_return wire::Result<void>();
  };
  // The attribute that forbids changes can be taken away.
  const Rules rules{Kind::kFile,
                    *size ? concurrency::FileOperation::kPutRange
                          : concurrency::FileOperation::kSetFileProperties,
                    concurrency::LeaseUse::kExclusive, true, order->attributes.has_value()};
  auto changed = co_await change_entry(call, rules, edit);
  if (!changed) co_return changed.error();
  co_return changed_reply(call, 200, *changed);
}

Outcome set_directory_properties(Call& call) {
  auto order = decode_smb_order(call);
  if (!order) co_return order.error();
  auto permission = co_await settle(call);
  if (!permission) co_return permission.error();
  const Edit edit = [&](Entry& directory, store::Commit&,
                        const Located&) -> Task<wire::Result<void>> {
    apply_to_existing(call, *order, directory);
    if (!permission->empty()) directory.smb.permission_key = *permission;
    touch(directory, call.now);
    co_return wire::Result<void>();
  };
  const Rules rules{Kind::kDirectory, concurrency::FileOperation::kSetFileProperties,
                    concurrency::LeaseUse::kExclusive, true, true};
  auto changed = co_await change_entry(call, rules, edit);
  if (!changed) co_return changed.error();
  co_return changed_reply(call, 200, *changed);
}

}  // namespace kyanite::file
