#include "smb/keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/check.h"

namespace kyanite::smb {

namespace {

constexpr size_t kShortKeyBytes = 16;
constexpr size_t kLongKeyBytes = 32;

// With the NUL that belongs to the labels and contexts of the protocol.
template <size_t kSize>
constexpr std::string_view with_nul(const char (&text)[kSize]) {
  return {text, kSize};
}

}  // namespace

SecretKey::SecretKey(std::string_view bytes) : size_(bytes.size()) {
  CHECK(bytes.size() <= kMaxBytes);
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

SecretKey::~SecretKey() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

void PreauthHash::add(std::string_view message) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  CHECK(EVP_DigestInit_ex(context.get(), EVP_sha512(), nullptr) == 1);
  CHECK(EVP_DigestUpdate(context.get(), value_.data(), value_.size()) == 1);
  CHECK(EVP_DigestUpdate(context.get(), message.data(), message.size()) == 1);
  unsigned size = 0;
  CHECK(EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(value_.data()), &size) ==
        1);
  CHECK(size == value_.size());
}

SecretKey derive_key(std::string_view from, std::string_view label, std::string_view context,
                     size_t bytes) {
  CHECK(bytes == kShortKeyBytes || bytes == kLongKeyBytes);
  std::string input("\0\0\0\1", 4);  // The number of the block.
  input += label;
  input += '\0';
  input += context;
  const size_t bits = bytes * 8;
  input += {'\0', '\0', static_cast<char>(bits >> 8), static_cast<char>(bits)};
  std::array<unsigned char, 32> block;
  unsigned size = 0;
  CHECK(HMAC(EVP_sha256(), from.data(), static_cast<int>(from.size()),
             reinterpret_cast<const unsigned char*>(input.data()), input.size(), block.data(),
             &size) != nullptr);
  CHECK(size == block.size());
  const SecretKey key({reinterpret_cast<const char*>(block.data()), bytes});
  OPENSSL_cleanse(block.data(), block.size());
  return key;
}

SessionKeys derive_session_keys(Dialect dialect, CipherId cipher, std::string_view session_key,
                                const PreauthHash& preauth) {
  // All but ciphers with long keys use 16 bytes of the session's key, filled up with zeros.
  std::string short_key(session_key.substr(0, kShortKeyBytes));
  short_key.resize(kShortKeyBytes);
  const bool is_long = cipher == CipherId::kCcm256 || cipher == CipherId::kGcm256;
  const std::string_view cipher_from = is_long ? session_key : std::string_view(short_key);
  const size_t cipher_bytes = is_long ? kLongKeyBytes : kShortKeyBytes;
  SessionKeys keys;
  if (dialect < Dialect::kSmb300 || dialect == Dialect::kWildcard) {
    keys.signing = SecretKey(short_key);
  } else if (dialect < Dialect::kSmb311) {
    const auto derive = [&](std::string_view label, std::string_view context) {
      return derive_key(short_key, label, context, kShortKeyBytes);
    };
    keys.signing = derive(with_nul("SMB2AESCMAC"), with_nul("SmbSign"));
    keys.client_to_server = derive(with_nul("SMB2AESCCM"), with_nul("ServerIn "));
    keys.server_to_client = derive(with_nul("SMB2AESCCM"), with_nul("ServerOut"));
  } else {
    const std::string_view context = preauth.view();
    keys.signing = derive_key(short_key, with_nul("SMBSigningKey"), context, kShortKeyBytes);
    keys.client_to_server =
        derive_key(cipher_from, with_nul("SMBC2SCipherKey"), context, cipher_bytes);
    keys.server_to_client =
        derive_key(cipher_from, with_nul("SMBS2CCipherKey"), context, cipher_bytes);
  }
  OPENSSL_cleanse(short_key.data(), short_key.size());
  return keys;
}

}  // namespace kyanite::smb
