#include "blob/customer_key.h"

#include <openssl/evp.h>

#include "base/bytes.h"
#include "base/check.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kAlgorithm = "AES256";
constexpr std::string_view kAccountScope = "$account-encryption-key";

std::string sha256_of(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr) == 1);
  return std::string(reinterpret_cast<char*>(digest), length);
}

// Unlike wire::invalid_header() it does not repeat the value.
wire::Error wrong(std::string_view header) {
  return wire::Error(Code::kInvalidHeaderValue).with("HeaderName", header);
}

bool is_private(const http::Request& request) {
  return request.secure || request.peer.starts_with("127.") || request.peer == "::1" ||
         request.peer.starts_with("::ffff:127.");
}

}  // namespace

wire::Result<MaybeKey> decode_customer_key(const Call& call, const KeyHeaders& headers) {
  const auto key_text = call.headers().find(headers.key);
  const auto hash_text = call.headers().find(headers.sha256);
  const auto algorithm = call.headers().find(headers.algorithm);
  if (!key_text && !hash_text && !algorithm) return MaybeKey();
  if (!key_text) return wire::missing_header(headers.key);
  if (!hash_text) return wire::missing_header(headers.sha256);
  if (!algorithm) return wire::missing_header(headers.algorithm);
  if (*algorithm != kAlgorithm) return wire::invalid_header(headers.algorithm, *algorithm);
  if (!is_private(call.request)) {
    return wrong(headers.key).saying("A customer-provided key must be sent over HTTPS.");
  }
  const auto key = unbase64(*key_text);
  if (!key || key->size() != content::Cipher::kKeyBytes) return wrong(headers.key);
  auto hash = unbase64(*hash_text);
  if (!hash || *hash != sha256_of(*key)) return wrong(headers.sha256);
  return MaybeKey(CustomerKey{std::move(*hash),
                              std::make_shared<const content::Cipher>(*key, call.context.workers)});
}

wire::Result<MaybeKey> decode_customer_key(const Call& call, KeyUse use) {
  if (use == KeyUse::kIgnores) return MaybeKey();
  if (use == KeyUse::kRefuses) {
    const KeyHeaders headers;
    if (!call.headers().has(headers.key)) return MaybeKey();
    return wire::Error(Code::kUnsupportedHeader).with("HeaderName", headers.key);
  }
  return decode_customer_key(call);
}

std::string key_sha256(const MaybeKey& key) { return key ? key->sha256 : std::string(); }

content::CipherPtr cipher_of(const MaybeKey& key) { return key ? key->cipher : nullptr; }

wire::Result<void> check_key(std::string_view sha256, const MaybeKey& key) {
  if (sha256.empty() && key) return wire::Error(Code::kBlobDoesNotUseCustomerSpecifiedEncryption);
  if (!sha256.empty() && !key) return wire::Error(Code::kBlobUsesCustomerSpecifiedEncryption);
  if (key && key->sha256 != sha256)
    return wire::Error(Code::kBlobCustomerSpecifiedEncryptionMismatch);
  return {};
}

void encode_encrypted(http::Reply& reply, const MaybeKey& key) {
  reply.header("x-ms-request-server-encrypted", "true");
  if (key) reply.header("x-ms-encryption-key-sha256", base64(key->sha256));
}

wire::Result<void> refuse_encryption_scope(const Call& call, std::string_view header) {
  const std::string_view scope = call.headers().get(header);
  const bool named = !scope.empty() && scope != kAccountScope;
  if (!named && call.query.get("ses").empty()) return {};
  return wire::Error(Code::kEncryptionScopeNotAvailable)
      .saying("This server has no encryption scopes.");
}

}  // namespace kyanite::blob
