#include "auth/jwks.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <simdjson.h>

#include <algorithm>

#include "base/check.h"
#include "base/freed_by.h"

namespace kyanite::auth {

namespace {
using PublicKey = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using Number = std::unique_ptr<BIGNUM, FreedBy<BN_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, FreedBy<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, FreedBy<OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, FreedBy<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreedBy<EVP_MD_CTX_free>>;
using EcdsaSignature = std::unique_ptr<ECDSA_SIG, FreedBy<ECDSA_SIG_free>>;

constexpr size_t kP256Bytes = 32;

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Number to_number(std::string_view big_endian) {
  return Number(
      BN_bin2bn(unsigned_bytes(big_endian), static_cast<int>(big_endian.size()), nullptr));
}

PublicKey build_key(const char* kind, OSSL_PARAM_BLD* builder) {
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1) return nullptr;
  if (EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
    return nullptr;
  return PublicKey(key);
}

std::string member(simdjson::dom::element object, const char* name) {
  std::string_view text;
  if (object[name].get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

PublicKey rsa_key(simdjson::dom::element json) {
  const auto modulus = unbase64url(member(json, "n"));
  const auto exponent = unbase64url(member(json, "e"));
  // 2048 to 8192 bits; longer ones would make every check a burden.
  if (!modulus || !exponent || modulus->size() < 256 || modulus->size() > 1024 ||
      exponent->empty() || exponent->size() > 8) {
    return nullptr;
  }
  const Number n = to_number(*modulus);
  const Number e = to_number(*exponent);
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return nullptr;
  }
  return build_key("RSA", builder.get());
}

PublicKey p256_key(simdjson::dom::element json) {
  const auto x = unbase64url(member(json, "x"));
  const auto y = unbase64url(member(json, "y"));
  if (member(json, "crv") != "P-256" || !x || !y || x->size() != kP256Bytes ||
      y->size() != kP256Bytes) {
    return nullptr;
  }
  const std::string point = "\x04" + *x + *y;  // uncompressed
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!builder ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) !=
          1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return nullptr;
  }
  return build_key("EC", builder.get());
}

// Tokens carry the two halves side by side; OpenSSL wants them in DER.
std::string der_signature(std::string_view halves) {
  if (halves.size() != 2 * kP256Bytes) return {};
  const EcdsaSignature signature(ECDSA_SIG_new());
  Number r = to_number(halves.substr(0, kP256Bytes));
  Number s = to_number(halves.substr(kP256Bytes));
  CHECK(signature && r && s);
  CHECK(ECDSA_SIG_set0(signature.get(), r.release(), s.release()) == 1);
  unsigned char* bytes = nullptr;
  const int length = i2d_ECDSA_SIG(signature.get(), &bytes);
  if (length <= 0) return {};
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
  OPENSSL_free(bytes);
  return out;
}
}  // namespace

struct KeySet::Entry {
  std::string id;
  std::string algorithm;
  PublicKey key;
};

KeySet::KeySet() = default;
KeySet::KeySet(KeySet&&) noexcept = default;
KeySet& KeySet::operator=(KeySet&&) noexcept = default;
KeySet::~KeySet() = default;

Result<KeySet, std::string> KeySet::parse(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  simdjson::dom::array entries;
  if (parser.parse(simdjson::padded_string(json)).get(document) != simdjson::SUCCESS ||
      document["keys"].get(entries) != simdjson::SUCCESS) {
    return std::string("not a JSON object with a list \"keys\"");
  }
  KeySet set;
  for (simdjson::dom::element entry : entries) {
    if (!entry.is_object()) return std::string("an entry of \"keys\" is not an object");
    const std::string kind = member(entry, "kty");
    if (member(entry, "use") == "enc") continue;
    Entry key;
    key.id = member(entry, "kid");
    if (kind == "RSA") {
      key.algorithm = "RS256";
      key.key = rsa_key(entry);
    } else if (kind == "EC" && member(entry, "crv") == "P-256") {
      key.algorithm = "ES256";
      key.key = p256_key(entry);
    } else {
      continue;
    }
    if (!key.key) return "the key '" + key.id + "' is malformed";
    if (set.keys_.size() == kMaxKeys) return std::string("more than 64 keys in it");
    set.keys_.push_back(std::move(key));
  }
  if (set.keys_.empty()) return std::string("no RSA or P-256 signing key in it");
  return set;
}

bool KeySet::verify(const Jwt& token) const {
  const std::string signature =
      token.algorithm == "ES256" ? der_signature(token.signature) : token.signature;
  if (signature.empty()) return false;
  for (const auto& entry : keys_) {
    // The algorithm belongs to the key, not to the token: "none" and symmetric algorithms never
    // match.
    if (entry.algorithm != token.algorithm) continue;
    if (!token.key_id.empty() && !entry.id.empty() && entry.id != token.key_id) continue;
    const DigestContext context(EVP_MD_CTX_new());
    CHECK(context != nullptr);
    if (EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, entry.key.get()) == 1 &&
        EVP_DigestVerify(context.get(), unsigned_bytes(signature), signature.size(),
                         unsigned_bytes(token.signed_part), token.signed_part.size()) == 1) {
      return true;
    }
  }
  return false;
}

}  // namespace kyanite::auth
