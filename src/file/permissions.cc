#include "file/permissions.h"

#include "base/bytes.h"
#include "file/refusals.h"
#include "tree/sddl.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kPermission = "x-ms-file-permission";
constexpr std::string_view kPermissionKey = "x-ms-file-permission-key";
constexpr std::string_view kPermissionFormat = "x-ms-file-permission-format";

}  // namespace

Task<wire::Result<std::string>> add_permission(Call& call, store::SpaceId space,
                                               std::string_view sddl) {
  auto key = co_await tree::add_permission(call, space, sddl);
  if (!key) co_return refusal(key.error());
  co_return std::move(*key);
}

Task<wire::Result<std::string>> find_permission(Call& call, store::SpaceId space,
                                                std::string_view key) {
  auto sddl = co_await tree::find_permission(call, space, key);
  if (!sddl && sddl.error() == tree::Error(tree::Reason::kBadPermissionKey))
    co_return wire::invalid_header(kPermissionKey, key);
  if (!sddl) co_return refusal(sddl.error());
  co_return std::move(*sddl);
}

wire::Result<PermissionFormat> decode_permission_format(const Call& call) {
  const auto text = call.headers().find(kPermissionFormat);
  if (!text || equals_ignoring_case(*text, "sddl")) return PermissionFormat::kSddl;
  if (equals_ignoring_case(*text, "binary")) return PermissionFormat::kBinary;
  return wire::invalid_header(kPermissionFormat, *text);
}

wire::Result<std::string> to_sddl(std::string_view sent, PermissionFormat format) {
  if (format == PermissionFormat::kSddl) return std::string(sent);
  const auto bytes = unbase64(sent);
  const auto descriptor = bytes ? tree::parse_descriptor(*bytes) : std::nullopt;
  if (!descriptor) return wire::Error(Code::kFileInvalidPermission);
  return tree::write_sddl(*descriptor);
}

wire::Result<std::string> from_sddl(std::string_view sddl, PermissionFormat format) {
  if (format == PermissionFormat::kSddl) return std::string(sddl);
  const auto descriptor = tree::parse_sddl(sddl);
  if (!descriptor) return wire::Error(Code::kFileInvalidPermission);
  return base64(tree::write_descriptor(*descriptor));
}

Task<wire::Result<std::string>> settle_permission(Call& call, store::SpaceId space,
                                                  PermissionUse use) {
  const auto permission = call.headers().find(kPermission);
  const auto key = call.headers().find(kPermissionKey);
  if (permission && key) co_return wire::invalid_header(kPermissionKey, *key);
  if (key) {
    auto known = co_await find_permission(call, space, *key);
    if (!known) co_return known.error();
    co_return std::string(*key);
  }
  if (!permission)
    co_return use == PermissionUse::kCreate ? default_permission_key() : std::string();
  if (equals_ignoring_case(*permission, "inherit")) co_return default_permission_key();
  if (equals_ignoring_case(*permission, "preserve")) {
    if (use == PermissionUse::kCreate) co_return wire::invalid_header(kPermission, *permission);
    co_return std::string();
  }
  if (permission->size() > kMaxInlinePermission)
    co_return wire::invalid_header(kPermission, *permission);
  auto format = decode_permission_format(call);
  if (!format) co_return format.error();
  auto sddl = to_sddl(*permission, *format);
  if (!sddl) co_return sddl.error();
  co_return co_await add_permission(call, space, *sddl);
}

}  // namespace kyanite::file
