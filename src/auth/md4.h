// MD4 (RFC 1320), which NTLM makes of passwords. OpenSSL 3 has it only in a provider that need not
// be installed. Broken as a hash; nothing but NTLM may use it.
#pragma once

#include <array>
#include <string_view>

namespace kyanite::auth {

std::array<char, 16> md4(std::string_view text);

}  // namespace kyanite::auth
