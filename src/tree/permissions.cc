#include "tree/permissions.h"

#include <openssl/sha.h>

#include <utility>

#include "base/bytes.h"
#include "store/stored.h"
#include "tree/sddl.h"

namespace kyanite::tree {

namespace {

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

bool has_default_permission(const Entry& entry) {
  const std::string& key = entry.smb.permission_key;
  return key.empty() || key == default_permission_key();
}

Task<Result<std::string>> add_permission(store::Occasion& occasion, store::SpaceId space,
                                         std::string_view sddl) {
  if (!parse_sddl(sddl)) co_return Error(Reason::kBadPermission);
  std::string key = key_of(sddl);
  if (key == default_permission_key()) co_return key;
  const auto place = permission_key(space, key);
  auto known = co_await occasion.store().get(place);
  if (!known) co_return Error(known.error());
  if (*known != nullptr) co_return key;
  // Whoever adds the same at the same time writes the same.
  store::Commit commit;
  commit.put(place, store::to_record(Permission{std::string(sddl)}));
  auto done = co_await occasion.store().commit(std::move(commit));
  if (!done) co_return Error(done.error());
  co_return key;
}

Task<Result<std::string>> find_permission(store::Occasion& occasion, store::SpaceId space,
                                          std::string_view key) {
  if (!is_key(key)) co_return Error(Reason::kBadPermissionKey);
  if (key == default_permission_key()) co_return std::string(default_permission());
  auto record = co_await occasion.store().get(permission_key(space, key));
  if (!record) co_return Error(record.error());
  if (*record == nullptr) co_return Error(Reason::kUnknownPermissionKey);
  auto permission = store::decode<Permission>((*record)->value);
  if (!permission) co_return Error(store::Error::kCorrupt);
  co_return std::move(permission->sddl);
}

}  // namespace kyanite::tree
