#include "transfer/hashes.h"

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "headers/http_properties.h"
#include "wire/crc64.h"

namespace kyanite::transfer {

using wire::Code;

namespace {
// Up to this size bytes are hashed where they are: handing them to another thread would cost more.
constexpr size_t kHashInPlaceBytes = 16 * 1024;
}  // namespace

const EVP_MD* md5_algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "MD5", nullptr);
  CHECK(algorithm != nullptr);
  return algorithm;
}

Hashes::Hashes(bool with_md5) {
  if (!with_md5) return;
  md5_ = EVP_MD_CTX_new();
  CHECK(EVP_DigestInit_ex(md5_, md5_algorithm(), nullptr) == 1);
}

Hashes::~Hashes() { EVP_MD_CTX_free(md5_); }

void Hashes::take(std::string_view bytes) {
  if (md5_ != nullptr) CHECK(EVP_DigestUpdate(md5_, bytes.data(), bytes.size()) == 1);
  crc64_ = wire::crc64(crc64_, bytes);
}

Workers::Turn Hashes::next_turn() {
  return std::exchange(had_turn_, true) ? Workers::Turn::kAgain : Workers::Turn::kFirst;
}

Task<void> Hashes::update(Workers& workers, std::string_view bytes) {
  if (bytes.size() <= kHashInPlaceBytes) {
    take(bytes);
    co_return;
  }
  co_await workers.run(
      [&] {
        take(bytes);
        return true;
      },
      next_turn());
}

Task<void> Hashes::update_all(Workers& workers, std::span<const Buffer> chunks) {
  co_await workers.run(
      [&] {
        for (const auto& chunk : chunks) take(chunk.view());
        return true;
      },
      next_turn());
}

Task<bool> Hashes::update_zeros(Workers& workers, uint64_t count, Deadline deadline) {
  if (md5_ == nullptr) {
    crc64_ = wire::crc64_zeros(crc64_, count);
    co_return true;
  }
  static const std::string zeros(kChunkBytes, '\0');
  while (count > 0) {
    if (deadline.over()) co_return false;
    const auto bytes = std::string_view(zeros).substr(0, std::min<uint64_t>(count, zeros.size()));
    co_await update(workers, bytes);
    count -= bytes.size();
  }
  co_return true;
}

std::string Hashes::md5() {
  if (md5_ == nullptr) return {};
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  CHECK(EVP_DigestFinal_ex(md5_, digest, &length) == 1);
  return std::string(reinterpret_cast<char*>(digest), length);
}

wire::Result<HashClaims> decode_claims(const service::Call& call, const ClaimHeaders& headers) {
  HashClaims claims;
  auto md5 = headers::decode_md5(call, headers.md5);
  if (!md5) return md5.error();
  claims.md5 = std::move(*md5);
  const auto text = call.headers().find(headers.crc64);
  if (!text || text->empty()) return claims;
  if (!claims.md5.empty()) return wire::Error(Code::kBothCrc64AndMd5HeaderPresent);
  auto bytes = unbase64(*text);
  if (!bytes || bytes->size() != 8) return wire::invalid_header(headers.crc64, *text);
  uint64_t crc = 0;
  for (int i = 7; i >= 0; --i)
    crc = crc << 8 | static_cast<unsigned char>((*bytes)[static_cast<size_t>(i)]);
  claims.crc64 = crc;
  return claims;
}

wire::Result<void> check_claims(const HashClaims& claims, std::string_view md5, uint64_t crc64) {
  if (!claims.md5.empty() && claims.md5 != md5) return wire::md5_mismatch(claims.md5, md5);
  if (claims.crc64 && *claims.crc64 != crc64) return wire::crc64_mismatch(*claims.crc64, crc64);
  return {};
}

}  // namespace kyanite::transfer
