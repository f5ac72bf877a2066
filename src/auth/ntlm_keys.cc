#include "auth/ntlm_keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <memory>

#include "auth/md4.h"
#include "auth/ntlm_message.h"
#include "auth/rc4.h"
#include "base/check.h"

namespace kyanite::auth::ntlm {

namespace {
constexpr size_t kMd5BlockBytes = 64;

struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

std::string upper_utf16(std::string_view text) {
  std::string upper(text);
  for (size_t i = 0; i + 1 < upper.size(); i += 2) {
    if (upper[i + 1] == 0 && upper[i] >= 'a' && upper[i] <= 'z') {
      upper[i] = static_cast<char>(upper[i] - 'a' + 'A');
    }
  }
  return upper;
}

// The key of one direction and purpose. The constants end in a zero byte.
Key derived(std::string_view key, Side side, std::string_view purpose) {
  const std::string_view direction =
      side == Side::kClient ? "client-to-server" : "server-to-client";
  return md5({key, "session key to ", direction, " ", purpose, " key magic constant",
              std::string_view("\0", 1)});
}

// How much of an exported key encrypts, by what both sides allow.
size_t sealing_bytes(uint32_t flags) {
  if (flags & k128) return 16;
  return flags & k56 ? 7 : 5;
}
}  // namespace

Key md5(std::initializer_list<std::string_view> parts) {
  const std::unique_ptr<EVP_MD_CTX, FreeDigest> context(EVP_MD_CTX_new());
  CHECK(context != nullptr && EVP_DigestInit_ex(context.get(), EVP_md5(), nullptr) == 1);
  for (const auto part : parts) EVP_DigestUpdate(context.get(), part.data(), part.size());
  Key digest;
  EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  return digest;
}

// RFC 2104. All keys of NTLM are shorter than a block.
Key hmac_md5(std::string_view key, std::initializer_list<std::string_view> parts) {
  CHECK(key.size() <= kMd5BlockBytes);
  std::array<char, kMd5BlockBytes> inner, outer;
  for (size_t i = 0; i < kMd5BlockBytes; ++i) {
    const char byte = i < key.size() ? key[i] : '\0';
    inner[i] = static_cast<char>(byte ^ 0x36);
    outer[i] = static_cast<char>(byte ^ 0x5c);
  }
  const std::unique_ptr<EVP_MD_CTX, FreeDigest> context(EVP_MD_CTX_new());
  CHECK(context != nullptr && EVP_DigestInit_ex(context.get(), EVP_md5(), nullptr) == 1);
  EVP_DigestUpdate(context.get(), inner.data(), inner.size());
  for (const auto part : parts) EVP_DigestUpdate(context.get(), part.data(), part.size());
  Key digest;
  EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  digest = md5({{outer.data(), outer.size()}, view(digest)});
  OPENSSL_cleanse(inner.data(), inner.size());
  OPENSSL_cleanse(outer.data(), outer.size());
  return digest;
}

std::string ascii_to_utf16(std::string_view ascii) {
  std::string out(2 * ascii.size(), '\0');
  for (size_t i = 0; i < ascii.size(); ++i) out[2 * i] = ascii[i];
  return out;
}

Key response_key(std::string_view ascii_password, std::string_view user_utf16,
                 std::string_view domain_utf16) {
  std::string password = ascii_to_utf16(ascii_password);
  Key hash = md4(password);
  const Key key = hmac_md5(view(hash), {upper_utf16(user_utf16), domain_utf16});
  OPENSSL_cleanse(password.data(), password.size());
  OPENSSL_cleanse(hash.data(), hash.size());
  return key;
}

Key proof_of(const Key& user_key, std::string_view server_challenge, std::string_view blob) {
  return hmac_md5(view(user_key), {server_challenge, blob});
}

Key base_key(const Key& user_key, const Key& proof) {
  return hmac_md5(view(user_key), {view(proof)});
}

std::string signature(Side side, const Key& exported_key, uint32_t flags, std::string_view text) {
  CHECK(flags & kExtendedSessionSecurity);
  constexpr std::string_view kSequence("\0\0\0\0", 4);
  const Key signing = derived(view(exported_key), side, "signing");
  const Key whole = hmac_md5(view(signing), {kSequence, text});
  std::string sum(whole.data(), 8);
  if (flags & kKeyExchange) {
    const auto secret = view(exported_key).substr(0, sealing_bytes(flags));
    sum = rc4(view(derived(secret, side, "sealing")), sum);
  }
  std::string made("\1\0\0\0", 4);
  made += sum;
  made += kSequence;
  return made;
}

}  // namespace kyanite::auth::ntlm
