// Rename File: PUT /{share}/{path}?comp=rename with x-ms-file-rename-source; Rename Directory: the
// same with restype=directory
#include "tree/rename.h"
#include "auth/authorize.h"
#include "base/bytes.h"
#include "file/entry.h"
#include "file/permissions.h"
#include "file/refusals.h"
#include "headers/conditions.h"
#include "headers/http_properties.h"
#include "headers/metadata.h"
#include "service/service.h"
#include "transfer/copy_source.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kSourceHeader = "x-ms-file-rename-source";

struct RenameOrder {
  tree::Rename rename;
  SmbOrder smb;
  std::optional<headers::Metadata> metadata;
  std::string content_type;    // Empty: as it is. Files only.
  std::string permission_key;  // Empty: as it is.
};

// The URL of the source as a call of its own, which must be allowed what this one does: by its own
// SAS, or by the credentials of this request.
Task<wire::Result<Path>> decode_source(Call& call) {
  const auto text = call.headers().find(kSourceHeader);
  if (!text) co_return wire::missing_header(kSourceHeader);
  if (auto dots = decode_flag(call, kSourceDots); !dots) co_return dots.error();
  const auto url = http::parse_url(*text);
  if (!url) co_return wire::invalid_header(kSourceHeader, *text);
  transfer::SourceCall source_call(call, *url, *call.service);
  Call& source = source_call.call();
  if (auto resolved = transfer::resolve_source(source); !resolved) co_return resolved.error();
  source.operation = call.operation;
  if (source.target.account != call.target.account ||
      source.target.container != call.target.container || source.target.object.empty()) {
    co_return wire::invalid_header(kSourceHeader, *text);
  }
  const bool own_credentials = source.query.has("sig");
  if (!own_credentials && call.caller.is_sas() && call.caller.scope == auth::Scope::kObject)
    co_return wire::Error(Code::kAuthorizationPermissionMismatch);
  if (auto admitted = co_await transfer::authorize_source(call, source, !own_credentials);
      !admitted)
    co_return admitted.error();
  co_return decode_path(source);
}

Task<wire::Result<RenameOrder>> decode_order(Call& call, const Tree& tree, Kind kind) {
  RenameOrder order;
  tree::Rename& rename = order.rename;
  rename.kind = kind;
  auto to = decode_path(call);
  if (!to) co_return to.error();
  rename.to = std::move(*to);
  auto from = co_await decode_source(call);
  if (!from) co_return from.error();
  rename.from = std::move(*from);
  const std::pair<std::string_view, bool*> flags[] = {
      {"x-ms-file-rename-replace-if-exists", &rename.destination.replaces},
      {"x-ms-file-rename-ignore-readonly", &rename.destination.ignores_read_only}};
  for (const auto& [header, value] : flags) {
    auto flag = decode_flag(call, header);
    if (!flag) co_return flag.error();
    *value = *flag;
  }
  const std::pair<std::string_view, std::optional<std::string>*> leases[] = {
      {"x-ms-source-lease-id", &rename.source_lease},
      {"x-ms-destination-lease-id", &rename.destination.lease_id}};
  for (const auto& [header, value] : leases) {
    auto id = headers::decode_guid(call, header);
    if (!id) co_return id.error();
    *value = std::move(*id);
  }
  rename.destination.may_replace = auth::may_overwrite(call.caller);
  auto smb = decode_smb_order(call);
  if (!smb) co_return smb.error();
  order.smb = std::move(*smb);
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  if (!metadata->empty()) order.metadata = std::move(*metadata);
  if (kind == Kind::kFile) {
    auto type = headers::decode_shown(call, headers::kFilePropertyHeaders.content_type);
    if (!type) co_return type.error();
    order.content_type = std::move(*type);
  }
  auto permission = co_await settle_permission(call, tree.space, PermissionUse::kSet);
  if (!permission) co_return permission.error();
  order.permission_key = std::move(*permission);
  co_return std::move(order);
}

Outcome rename(Call& call, Kind kind) {
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  auto order = co_await decode_order(call, *tree, kind);
  if (!order) co_return order.error();
  const tree::Retouch retouch = [&](Entry& entry) {
    if (order->metadata) entry.metadata = *order->metadata;
    if (!order->content_type.empty()) entry.http.content_type = order->content_type;
    apply_to_existing(call, order->smb, entry);
    if (!order->permission_key.empty()) entry.smb.permission_key = order->permission_key;
  };
  auto renamed = co_await tree::rename(call, *tree, order->rename, retouch);
  if (!renamed && renamed.error() == tree::Error(tree::Reason::kIntoItself))
    co_return wire::invalid_header(kSourceHeader, call.headers().get(kSourceHeader));
  if (!renamed) co_return refusal(renamed.error());
  co_return changed_reply(call, 200, *renamed);
}

}  // namespace

Outcome rename_file(Call& call) { return rename(call, Kind::kFile); }
Outcome rename_directory(Call& call) { return rename(call, Kind::kDirectory); }

}  // namespace kyanite::file
