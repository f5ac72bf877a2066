#include "issuer/token_key.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>

#include <algorithm>

#include "base/bytes.h"
#include "issuer/keep.h"
#include "issuer/openssl.h"

namespace kyanite::issuer {

namespace {

constexpr const char* kKeyFile = "token_key.pem";
constexpr unsigned kKeyBits = 2048;

using DigestContext = std::unique_ptr<EVP_MD_CTX, FreedBy<EVP_MD_CTX_free>>;

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string sha256(std::string_view text) {
  std::string out(SHA256_DIGEST_LENGTH, '\0');
  SHA256(unsigned_bytes(text), text.size(), reinterpret_cast<unsigned char*>(out.data()));
  return out;
}

std::string number_of(const EVP_PKEY* key, const char* part) {
  BIGNUM* raw = nullptr;
  CHECK(EVP_PKEY_get_bn_param(key, part, &raw) == 1);
  const Number number(raw);
  std::string bytes(static_cast<size_t>(BN_num_bytes(number.get())), '\0');
  BN_bn2bin(number.get(), reinterpret_cast<unsigned char*>(bytes.data()));
  return bytes;
}

PrivateKey new_key() {
  PrivateKey key(EVP_RSA_gen(kKeyBits));
  CHECK(key);
  return key;
}

}  // namespace

struct TokenKey::State {
  PrivateKey key;
};

TokenKey::TokenKey(std::unique_ptr<State> state) : state_(std::move(state)) {
  const std::string modulus = number_of(state_->key.get(), OSSL_PKEY_PARAM_RSA_N);
  const std::string exponent = number_of(state_->key.get(), OSSL_PKEY_PARAM_RSA_E);
  id_ = base64url(sha256(modulus)).substr(0, 27);
  key_set_ = R"({"keys":[{"kty":"RSA","use":"sig","alg":"RS256","kid":")" + id_ + R"(","n":")" +
             base64url(modulus) + R"(","e":")" + base64url(exponent) + R"("}]})";
  derived_secret_ =
      hex(sha256("identity header" + number_of(state_->key.get(), OSSL_PKEY_PARAM_RSA_D)))
          .substr(0, 32);
}

TokenKey::~TokenKey() = default;

Result<std::unique_ptr<const TokenKey>, std::string> TokenKey::open(const std::string& directory) {
  auto kept = keep_secret(directory, kKeyFile, [] { return pem_of(new_key().get()); });
  if (!kept) return Failure{kept.error().what};
  auto state = std::make_unique<State>();
  state->key = key_from(*kept);
  ERR_clear_error();
  if (!state->key || EVP_PKEY_is_a(state->key.get(), "RSA") != 1) {
    return Failure{directory + "/" + kKeyFile +
                   " does not hold an RSA key; without it a new one is made"};
  }
  return std::unique_ptr<const TokenKey>(new TokenKey(std::move(state)));
}

std::unique_ptr<const TokenKey> TokenKey::make() {
  auto state = std::make_unique<State>();
  state->key = new_key();
  return std::unique_ptr<const TokenKey>(new TokenKey(std::move(state)));
}

std::string TokenKey::sign(std::string_view claims) const {
  std::string token = base64url(R"({"typ":"JWT","alg":"RS256","kid":")" + id_ + R"("})");
  token.append(".").append(base64url(claims));
  const DigestContext context(EVP_MD_CTX_new());
  size_t length = 0;
  CHECK(context &&
        EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, state_->key.get()) == 1);
  CHECK(EVP_DigestSign(context.get(), nullptr, &length, unsigned_bytes(token), token.size()) == 1);
  std::string signature(length, '\0');
  CHECK(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &length,
                       unsigned_bytes(token), token.size()) == 1);
  signature.resize(length);
  return token.append(".").append(base64url(signature));
}

std::string base64url(std::string_view bytes) {
  std::string text = base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::string uuid_of(std::string_view text) {
  std::string bytes = sha256(text).substr(0, 16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x80);  // Version 8: made as we like.
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  std::string out = hex(bytes);
  for (const size_t at : {8U, 13U, 18U, 23U}) out.insert(at, "-");
  return out;
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-'
             : std::string_view("0123456789abcdefABCDEF").find(text[i]) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace kyanite::issuer
