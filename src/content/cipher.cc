#include "content/cipher.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/random.h"

namespace kyanite::content {

namespace {
constexpr size_t kBlockBytes = 16;
// Up to this size bytes are worked on where they are: another thread would cost more.
constexpr size_t kInPlaceBytes = 16 * 1024;
}  // namespace

Seal new_seal() {
  Seal seal;
  const std::string nonce = random_bytes(seal.nonce.size());
  std::copy(nonce.begin(), nonce.end(), seal.nonce.begin());
  return seal;
}

Cipher::Cipher(std::string_view key, Workers& workers) : workers_(workers) {
  CHECK(key.size() == kKeyBytes);
  std::copy(key.begin(), key.end(), key_.begin());
}

Cipher::~Cipher() { OPENSSL_cleanse(key_.data(), key_.size()); }

void Cipher::apply_here(const Seal& seal, char* bytes, size_t count) const {
  // The counter block: the nonce, and the number of the block as 4 bytes big endian.
  std::array<unsigned char, kBlockBytes> counter{};
  std::copy(seal.nonce.begin(), seal.nonce.end(), counter.begin());
  const uint32_t block = seal.skip / kBlockBytes;
  for (size_t i = 0; i < 4; ++i)
    counter[kBlockBytes - 1 - i] = static_cast<unsigned char>(block >> (8 * i));

  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(
      EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  CHECK(EVP_EncryptInit_ex(context.get(), EVP_aes_256_ctr(), nullptr, key_.data(),
                           counter.data()) == 1);
  int written = 0;
  if (const uint32_t inside = seal.skip % kBlockBytes; inside != 0) {
    std::array<unsigned char, kBlockBytes> passed{};
    CHECK(EVP_EncryptUpdate(context.get(), passed.data(), &written, passed.data(),
                            static_cast<int>(inside)) == 1);
  }
  auto* data = reinterpret_cast<unsigned char*>(bytes);
  CHECK(EVP_EncryptUpdate(context.get(), data, &written, data, static_cast<int>(count)) == 1);
}

Task<void> Cipher::apply(Seal seal, char* bytes, size_t count) const {
  if (count <= kInPlaceBytes) {
    apply_here(seal, bytes, count);
    co_return;
  }
  co_await workers_.run([&] {
    apply_here(seal, bytes, count);
    return true;
  });
}

}  // namespace kyanite::content
