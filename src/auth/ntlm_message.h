// The three messages of NTLM (MS-NLMP 2.2.1): NEGOTIATE from the client, CHALLENGE from the server,
// AUTHENTICATE from the client. Bytes to fields and back; every offset and length is held against
// the message. What is read are views into it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "auth/ntlm_keys.h"
#include "auth/refusal.h"
#include "base/clock.h"
#include "base/result.h"

namespace kyanite::auth::ntlm {

inline constexpr std::string_view kMagic{"NTLMSSP\0", 8};

// More than any client needs. A NEGOTIATE message is kept until its sender is authenticated.
inline constexpr size_t kMaxNegotiateBytes = 1024;
inline constexpr size_t kMaxAuthenticateBytes = 4096;

// Flags that are of importance here.
inline constexpr uint32_t kUnicode = 0x00000001;
inline constexpr uint32_t kRequestTarget = 0x00000004;
inline constexpr uint32_t kSign = 0x00000010;
inline constexpr uint32_t kSeal = 0x00000020;
inline constexpr uint32_t kNtlm = 0x00000200;
inline constexpr uint32_t kAlwaysSign = 0x00008000;
inline constexpr uint32_t kTargetTypeServer = 0x00020000;
inline constexpr uint32_t kExtendedSessionSecurity = 0x00080000;
inline constexpr uint32_t kTargetInfo = 0x00800000;
inline constexpr uint32_t kVersion = 0x02000000;
inline constexpr uint32_t k128 = 0x20000000;
inline constexpr uint32_t kKeyExchange = 0x40000000;
inline constexpr uint32_t k56 = 0x80000000;

inline constexpr size_t kChallengeBytes = 8;

// The flags that the client asks for.
Result<uint32_t, Refusal> parse_negotiate(std::string_view message);

// What the server calls itself, in ASCII. NetBIOS names have up to 15 characters, in upper case.
struct Names {
  std::string computer;  // NetBIOS
  std::string domain;    // NetBIOS
  std::string dns_computer;
  std::string dns_domain;  // may be empty
};

// The answer to a client that asks for these flags. `challenge` is random, of kChallengeBytes.
std::string write_challenge(uint32_t asked_flags, const Names& names, std::string_view challenge,
                            Time now);
// Two fields of a message that write_challenge() made.
uint32_t offered_flags(std::string_view challenge_message);
std::string_view server_challenge(std::string_view challenge_message);

// An AUTHENTICATE message whose response is of the second version; its text is UTF-16.
struct Authenticate {
  uint32_t flags = 0;
  std::string_view domain;
  std::string_view user;
  std::string_view workstation;
  std::string_view proof;  // of sizeof(Key)
  std::string_view blob;   // what it proves, with the server's challenge
  std::string_view encrypted_key;
  // The code that covers all three messages, of sizeof(Key), if the blob promises one. Being part
  // of the blob, the promise cannot be taken away on the way.
  std::string_view integrity_code;
};
inline constexpr size_t kIntegrityCodeAt = 72;

Result<Authenticate, Refusal> parse_authenticate(std::string_view message);

}  // namespace kyanite::auth::ntlm
