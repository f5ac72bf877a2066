#include "smb/aead.h"

#include <openssl/evp.h>

#include <cstring>

#include "base/bytes.h"
#include "base/check.h"

namespace kyanite::smb {

namespace {

const EVP_CIPHER* algorithm(CipherId cipher) {
  switch (cipher) {
    case CipherId::kCcm128:
      return EVP_aes_128_ccm();
    case CipherId::kGcm128:
      return EVP_aes_128_gcm();
    case CipherId::kCcm256:
      return EVP_aes_256_ccm();
    case CipherId::kGcm256:
      return EVP_aes_256_gcm();
    case CipherId::kNone:
      break;
  }
  return nullptr;
}

bool is_ccm(CipherId cipher) { return cipher == CipherId::kCcm128 || cipher == CipherId::kCcm256; }
constexpr size_t kCcmNonceBytes = 11;

WideGcm::Width width(Aead::Instructions wide) {
  return wide == Aead::Instructions::kFourBlocks ? WideGcm::Width::kFourBlocks
                                                 : WideGcm::Width::kTwoBlocks;
}

unsigned char* bytes_of(char* text) { return reinterpret_cast<unsigned char*>(text); }
const unsigned char* bytes_of(const char* text) {
  return reinterpret_cast<const unsigned char*>(text);
}

// False only for decryption of what was not encrypted so.
bool update(EVP_CIPHER_CTX* context, const char* from, char* to, size_t count) {
  int written = 0;
  return EVP_CipherUpdate(context, to == nullptr ? nullptr : bytes_of(to), &written, bytes_of(from),
                          static_cast<int>(count)) == 1;
}

}  // namespace

bool Aead::takes_pieces(CipherId cipher) { return !is_ccm(cipher); }

bool Aead::has(Instructions instructions) {
  return instructions == Instructions::kOfOpenSsl || WideGcm::is_supported(width(instructions));
}

Aead::Instructions Aead::best() {
  for (const auto each : {Instructions::kFourBlocks, Instructions::kTwoBlocks})
    if (has(each)) return each;
  return Instructions::kOfOpenSsl;
}

size_t Aead::nonce_bytes(CipherId cipher) {
  return is_ccm(cipher) ? kCcmNonceBytes : WideGcm::kNonceBytes;
}

Aead::Aead(CipherId cipher, const SecretKey& key, Direction direction, Instructions by)
    : cipher_(cipher) {
  const EVP_CIPHER* const chosen = algorithm(cipher);
  CHECK(chosen != nullptr && key.size() == static_cast<size_t>(EVP_CIPHER_get_key_length(chosen)));
  if (by != Instructions::kOfOpenSsl && !is_ccm(cipher)) {
    wide_.emplace(key, width(by));
    return;
  }
  context_.reset(EVP_CIPHER_CTX_new());
  EVP_CIPHER_CTX* const context = context_.get();
  const int encrypts = direction == Direction::kEncrypts ? 1 : 0;
  CHECK(EVP_CipherInit_ex(context, chosen, nullptr, nullptr, nullptr, encrypts) == 1);
  if (is_ccm(cipher_)) {
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, kCcmNonceBytes, nullptr) == 1);
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kSignatureBytes, nullptr) == 1);
  }
  CHECK(EVP_CipherInit_ex(context, nullptr, nullptr, key.data(), nullptr, encrypts) == 1);
}

void Aead::begin(const char* nonce, size_t plain_bytes) {
  if (wide_) return wide_->begin(nonce);
  CHECK(EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr, bytes_of(nonce), -1) == 1);
  int written = 0;
  if (is_ccm(cipher_))
    CHECK(EVP_CipherUpdate(context_.get(), nullptr, &written, nullptr,
                           static_cast<int>(plain_bytes)) == 1);
}

void Aead::authenticate(std::string_view bytes) {
  if (bytes.empty()) return;
  if (wide_) return wide_->authenticate(bytes);
  CHECK(update(context_.get(), bytes.data(), nullptr, bytes.size()));
}

void Aead::encrypt(const char* from, char* to, size_t count) {
  if (count == 0) return;
  if (wide_) return wide_->encrypt(from, to, count);
  CHECK(update(context_.get(), from, to, count));
}

Aead::Tag Aead::tag() {
  Tag tag;
  if (wide_) {
    const WideGcm::Block block = wide_->tag();
    std::memcpy(tag.data(), block.data(), tag.size());
    return tag;
  }
  int written = 0;
  unsigned char rest[16];
  CHECK(EVP_CipherFinal_ex(context_.get(), rest, &written) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kSignatureBytes, tag.data()) ==
        1);
  return tag;
}

bool Aead::decrypt(const char* nonce, std::string_view authenticated, const Tag& expected,
                   std::span<char> bytes) {
  if (wide_) {
    wide_->begin(nonce);
    wide_->authenticate(authenticated);
    wide_->decrypt(bytes.data(), bytes.data(), bytes.size());
    const Tag found = tag();
    return equals_constant_time({found.data(), found.size()}, {expected.data(), expected.size()});
  }
  Tag given = expected;
  CHECK(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kSignatureBytes, given.data()) ==
        1);
  begin(nonce, bytes.size());
  authenticate(authenticated);
  if (!update(context_.get(), bytes.data(), bytes.data(), bytes.size())) return false;
  int written = 0;
  unsigned char rest[16];
  // CCM has compared the tag already.
  return is_ccm(cipher_) || EVP_CipherFinal_ex(context_.get(), rest, &written) == 1;
}

}  // namespace kyanite::smb
