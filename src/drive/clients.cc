#include "drive/clients.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <string>

namespace kyanite::drive {

smb::Guid name_within(std::string_view account, const smb::Guid& itself) {
  std::string both(account);
  both += '\0';
  both.append(itself.begin(), itself.end());
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(both.data()), both.size(), digest.data());
  smb::Guid name{};
  std::copy_n(digest.begin(), name.size(), name.begin());
  return name;
}

}  // namespace kyanite::drive
