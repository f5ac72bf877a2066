#include "file/permissions.h"

#include <openssl/sha.h>

#include "base/bytes.h"
#include "file/sddl.h"
#include "service/storage.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kPermission = "x-ms-file-permission";
constexpr std::string_view kPermissionKey = "x-ms-file-permission-key";
constexpr std::string_view kPermissionFormat = "x-ms-file-permission-format";

// Two numbers made from the text, so that the same permission has the same key in every share and
// adding it twice changes nothing.
std::string key_of(std::string_view sddl) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(sddl.data()), sddl.size(), digest);
  const char* bytes = reinterpret_cast<const char*>(digest);
  return std::to_string(read_be64(bytes)) + "*" + std::to_string(read_be64(bytes + 8));
}

bool is_key(std::string_view text) {
  const size_t star = text.find('*');
  return star != std::string_view::npos && parse_uint(text.substr(0, star)) &&
         parse_uint(text.substr(star + 1));
}

}  // namespace

std::string_view default_permission() {
  // Everything for administrators and the system, reading for users, changing for those who are
  // authenticated, everything on their own for owners.
  return "O:SYG:SYD:(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)"
         "(A;OICI;0x1301bf;;;AU)(A;;FA;;;SY)(A;OICIIO;GA;;;CO)";
}

const std::string& default_permission_key() {
  static const std::string kKey = key_of(default_permission());
  return kKey;
}

Task<wire::Result<std::string>> add_permission(Call& call, store::SpaceId space,
                                               std::string_view sddl) {
  if (!parse_sddl(sddl)) co_return wire::Error(Code::kFileInvalidPermission);
  std::string key = key_of(sddl);
  if (key == default_permission_key()) co_return key;
  const auto place = permission_key(space, key);
  auto known = co_await call.store().get(place);
  if (!known) co_return service::storage_error(known.error());
  if (*known != nullptr) co_return key;
  // Whoever adds the same at the same time writes the same.
  store::Commit commit;
  commit.put(place, service::to_record(Permission{std::string(sddl)}));
  auto done = co_await call.store().commit(std::move(commit));
  if (!done) co_return service::storage_error(done.error());
  co_return key;
}

Task<wire::Result<std::string>> find_permission(Call& call, store::SpaceId space,
                                                std::string_view key) {
  if (!is_key(key)) co_return wire::invalid_header(kPermissionKey, key);
  if (key == default_permission_key()) co_return std::string(default_permission());
  auto loaded = co_await service::load<Permission>(call, permission_key(space, key));
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return wire::Error(Code::kFileInvalidPermissionKey);
  co_return std::move(loaded->value->sddl);
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
  const auto descriptor = bytes ? parse_descriptor(*bytes) : std::nullopt;
  if (!descriptor) return wire::Error(Code::kFileInvalidPermission);
  return write_sddl(*descriptor);
}

wire::Result<std::string> from_sddl(std::string_view sddl, PermissionFormat format) {
  if (format == PermissionFormat::kSddl) return std::string(sddl);
  const auto descriptor = parse_sddl(sddl);
  if (!descriptor) return wire::Error(Code::kFileInvalidPermission);
  return base64(write_descriptor(*descriptor));
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
