// Copy File: PUT /{share}/{path} with x-ms-copy-source
//
// A source in this server is copied at once: the copy shares its bytes and their number does not
// matter.
#include "base/bytes.h"
#include "base/random.h"
#include "file/copy.h"
#include "file/create.h"
#include "file/permissions.h"
#include "file/ranges.h"
#include "file/source.h"
#include "headers/copy_state.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

bool says_source(const Call& call, std::string_view header) {
  return equals_ignoring_case(call.headers().get(header), "source");
}

// The permission key of the copy. A permission of another share is noted in this one first.
Task<wire::Result<std::string>> copy_permission(Call& call, const Tree& tree,
                                                const Source& source) {
  constexpr std::string_view kMode = "x-ms-file-permission-copy-mode";
  const auto mode = call.headers().get(kMode);
  const bool from_source = equals_ignoring_case(mode, "source");
  if (!mode.empty() && !from_source && !equals_ignoring_case(mode, "override"))
    co_return wire::invalid_header(kMode, mode);
  if (!from_source || !source.file)
    co_return co_await settle_permission(call, tree.space, PermissionUse::kCreate);
  const std::string& key = source.file->found.entry->smb.permission_key;
  if (key.empty() || source.file->tree.space == tree.space) co_return key;
  auto sddl = co_await find_permission(source.call->call(), source.file->tree.space, key);
  if (!sddl) co_return sddl.error();
  co_return co_await add_permission(call, tree.space, *sddl);
}

// The properties that the request wants as the source has them.
void take_properties(const Call& call, const Entry& from, Entry& copy) {
  if (says_source(call, "x-ms-file-attributes")) copy.smb.attributes = from.smb.attributes;
  if (says_source(call, "x-ms-file-creation-time")) copy.smb.created = from.smb.created;
  if (says_source(call, "x-ms-file-last-write-time")) copy.smb.written = from.smb.written;
  if (says_source(call, "x-ms-file-change-time")) copy.smb.changed = from.smb.changed;
}

// The content of the source under a new id, in the form that files have. kConflict when the source
// has changed meanwhile.
Task<store::Result<content::Content>> share_content(Call& call,
                                                    const transfer::SourceObject& source,
                                                    const content::Place& to,
                                                    store::Commit& commit) {
  const auto from = source.place();
  if (source.content.sparse) {
    co_return co_await content::copy(call.store(), commit, from, source.content, to, source.head,
                                     call.deadline);
  }
  content::Content copied;
  copied.sparse = true;
  copied.length = source.content.length;
  if (copied.length == 0) co_return copied;
  auto pieces =
      co_await content::load(call.store(), from, source.content, 0, copied.length, source.head);
  if (!pieces) co_return pieces.error();
  auto written = co_await content::overwrite(call.store(), commit, to, copied, 0, copied.length,
                                             *pieces, call.deadline);
  if (!written) co_return written.error();
  co_return copied;
}

// One attempt; `changed` tells that the source was changed while it was copied.
Outcome copy_local(Call& call, const CopyOrder& order, const Tree& tree, const Path& path,
                   const Source& source, bool& changed) {
  auto permission = co_await copy_permission(call, tree, source);
  if (!permission) co_return permission.error();
  const Fill fill = [&](Entry& copy, const Way&,
                        store::Commit& commit) -> Task<wire::Result<void>> {
    begin_copy(call, order, copy);
    copy.http = source.object.http;
    if (copy.metadata.empty()) copy.metadata = source.object.metadata;
    copy.smb.permission_key = *permission;
    if (source.file) take_properties(call, *source.file->found.entry, copy);
    mark_for_archive(order, copy);
    const auto to = tree.content_place();
    auto shared = co_await share_content(call, source.object, to, commit);
    if (!shared) {
      changed = shared.error() == store::Error::kConflict;
      if (changed) co_return wire::Error(Code::kServerBusy);  // To be opened again, not here.
      co_return service::storage_error(shared.error());
    }
    copy.content = *shared;
    copy.copy.source = source.url;
    copy.copy.status = headers::CopyStatus::kSuccess;
    copy.copy.copied = copy.copy.total = copy.content.length;
    copy.copy.completed = call.now;
    co_return wire::Result<void>();
  };
  auto copied = co_await create_entry(call, tree, path, order.replacement, fill);
  if (!copied) co_return copied.error();
  co_return copy_reply(*copied->entry);
}

}  // namespace

Outcome copy_file(Call& call) {
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto order = decode_copy_order(call);
  if (!order) co_return order.error();
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  auto attempt = [&]() -> Outcome {
    auto source = co_await open_source(call, SourceTrust::kAccount);
    if (!source) co_return source.error();
    if (!source->is_local()) co_return co_await copy_foreign(call, *order, *tree, *path, *source);
    bool changed = false;
    auto copied = co_await copy_local(call, *order, *tree, *path, *source, changed);
    if (changed) co_return service::decide_again();
    co_return copied;
  };
  co_return co_await service::answer_whole(call, attempt);
}

}  // namespace kyanite::file
