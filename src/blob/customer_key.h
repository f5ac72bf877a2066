// Keys that clients bring along (customer-provided keys): what is written with one is stored
// encrypted with it and can only be read with it. The server stores the key's SHA-256, never the
// key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "content/cipher.h"
#include "http/message.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

struct CustomerKey {
  std::string sha256;  // 32 bytes
  content::CipherPtr cipher;
};
using MaybeKey = std::optional<CustomerKey>;

// The headers that carry a key. None of their values may appear in a log or an error.
struct KeyHeaders {
  std::string_view key = "x-ms-encryption-key";
  std::string_view sha256 = "x-ms-encryption-key-sha256";
  std::string_view algorithm = "x-ms-encryption-algorithm";
};
inline constexpr KeyHeaders kSourceKey{"x-ms-source-encryption-key",
                                       "x-ms-source-encryption-key-sha256",
                                       "x-ms-source-encryption-algorithm"};

// What an operation does with a customer's key.
enum class KeyUse {
  kIgnores,   // It neither reads nor writes what keys protect.
  kSets,      // What it writes is encrypted with the key, if there is one.
  kNeeds,     // The blob's key must come along, and no other.
  kVerifies,  // A key that comes along must be the blob's.
  kRefuses,   // It cannot encrypt: 400 rather than leaving bytes as they are.
};

// Nothing when no such header is there. 400 unless all three are, the algorithm is AES256 and the
// hash is the key's. As the key itself travels, it must come over TLS or from this machine.
wire::Result<MaybeKey> decode_customer_key(const service::Call& call,
                                           const KeyHeaders& headers = {});
wire::Result<MaybeKey> decode_customer_key(const service::Call& call, KeyUse use);

// The hash as heads keep it: empty without a key.
std::string key_sha256(const MaybeKey& key);
content::CipherPtr cipher_of(const MaybeKey& key);

// Whether this key opens what was written with the key of that hash (empty: with none); else one of
// the three codes of 409.
wire::Result<void> check_key(std::string_view sha256, const MaybeKey& key);

// x-ms-request-server-encrypted and, of a customer's key, its hash.
void encode_encrypted(http::Reply& reply, const MaybeKey& key);

// Encryption scopes are not offered: 409 EncryptionScopeNotAvailable when the header, or the SAS,
// names one. The account's own, which all accounts have, is no scope.
wire::Result<void> refuse_encryption_scope(const service::Call& call, std::string_view header);

}  // namespace kyanite::blob
