// The arithmetic of NTLMv2 (MS-NLMP 3.3.2, 3.4): passwords to keys, keys to proofs and signatures.
// Pure; text is in UTF-16, little-endian, where a name ends in utf16.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace kyanite::auth::ntlm {

// A key, or what a message is proven with.
using Key = std::array<char, 16>;
inline std::string_view view(const Key& key) { return {key.data(), key.size()}; }

// Of the parts one after the other.
Key md5(std::initializer_list<std::string_view> parts);
Key hmac_md5(std::string_view key, std::initializer_list<std::string_view> parts);

std::string ascii_to_utf16(std::string_view ascii);

// NTOWFv2: what a password is to a user of a domain. Names are as the client sent them; letters of
// the user beyond ASCII keep their case.
Key response_key(std::string_view ascii_password, std::string_view user_utf16,
                 std::string_view domain_utf16);

// The proof at the beginning of a response. `blob` is what follows it there.
Key proof_of(const Key& user_key, std::string_view server_challenge, std::string_view blob);
// The key both sides have then.
Key base_key(const Key& user_key, const Key& proof);

enum class Side { kClient, kServer };
inline constexpr size_t kSignatureBytes = 16;

// The first signature (sequence number 0) that this side makes with an exported session key, in a
// session with the flags `flags`, which include extended session security.
std::string signature(Side side, const Key& exported_key, uint32_t flags, std::string_view text);

}  // namespace kyanite::auth::ntlm
