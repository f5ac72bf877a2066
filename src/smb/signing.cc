#include "smb/signing.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/bytes.h"
#include "base/check.h"

namespace kyanite::smb {

namespace {

constexpr size_t kBlockBytes = 16;
using Block = std::array<unsigned char, kBlockBytes>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// What is signed: the header with zeros for its signature, and all that follows.
template <class Visit>
void for_each_piece(std::string_view first, const NextPiece& rest, const Visit& visit) {
  static constexpr char kZero[kSignatureBytes] = {};
  visit(first.substr(0, kSignatureOffset));
  visit({kZero, sizeof kZero});
  visit(first.substr(kHeaderBytes));
  if (rest == nullptr) return;
  while (const auto piece = rest()) visit(*piece);
}

// Twice a value of the field that CMAC computes in.
Block doubled(const Block& block) {
  Block result;
  for (size_t i = 0; i < kBlockBytes; ++i) {
    const unsigned carried = i + 1 < kBlockBytes ? block[i + 1] >> 7 : 0;
    result[i] = static_cast<unsigned char>(block[i] << 1 | carried);
  }
  if ((block[0] & 0x80) != 0) result[kBlockBytes - 1] ^= 0x87;
  return result;
}

// AES-CMAC by AES in CBC mode, whose last block it is. OpenSSL's own goes block by block and takes
// more than half as long again.
class Chain {
 public:
  explicit Chain(EVP_CIPHER_CTX* cipher) : cipher_(cipher) {
    const Block zero{};
    CHECK(EVP_EncryptInit_ex(cipher_, nullptr, nullptr, nullptr, zero.data()) == 1);
  }
  void add(std::string_view piece) {
    // The last block is held back, as it is treated in another way.
    while (!piece.empty()) {
      if (held_ == kBlockBytes) encrypt_held();
      if (held_ == 0 && piece.size() > kBlockBytes) piece.remove_prefix(encrypt_blocks(piece));
      const size_t count = std::min(kBlockBytes - held_, piece.size());
      std::memcpy(block_.data() + held_, piece.data(), count);
      held_ += count;
      piece.remove_prefix(count);
    }
  }
  Block finish(const Block& whole, const Block& partial) {
    const Block& mask = held_ == kBlockBytes ? whole : partial;
    if (held_ < kBlockBytes) {
      block_[held_] = 0x80;
      std::fill(block_.begin() + static_cast<ptrdiff_t>(held_) + 1, block_.end(), 0);
    }
    for (size_t i = 0; i < kBlockBytes; ++i) block_[i] ^= mask[i];
    encrypt_held();
    return block_;
  }

 private:
  static constexpr size_t kScratchBytes = 2048;

  void encrypt(const unsigned char* from, unsigned char* to, size_t count) {
    int written = 0;
    CHECK(EVP_EncryptUpdate(cipher_, to, &written, from, static_cast<int>(count)) == 1);
  }
  void encrypt_held() {
    encrypt(block_.data(), block_.data(), kBlockBytes);
    held_ = 0;
  }
  // All blocks but the last; how many bytes they are.
  size_t encrypt_blocks(std::string_view piece) {
    unsigned char scratch[kScratchBytes];
    const size_t whole = (piece.size() - 1) / kBlockBytes * kBlockBytes;
    for (size_t at = 0; at < whole; at += kScratchBytes)
      encrypt(bytes_of(piece) + at, scratch, std::min(kScratchBytes, whole - at));
    return whole;
  }

  EVP_CIPHER_CTX* const cipher_;
  Block block_{};
  size_t held_ = 0;
};

}  // namespace

void Signer::FreeMac::operator()(evp_mac_ctx_st* context) const { EVP_MAC_CTX_free(context); }

Signer::Signer(SigningId algorithm, const SecretKey& key) : algorithm_(algorithm) {
  CHECK(key.size() == kBlockBytes);
  if (algorithm == SigningId::kHmacSha256) {
    const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> mac(
        EVP_MAC_fetch(nullptr, "HMAC", nullptr), &EVP_MAC_free);
    CHECK(mac != nullptr);
    mac_.reset(EVP_MAC_CTX_new(mac.get()));
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end()};
    CHECK(EVP_MAC_init(mac_.get(), key.data(), key.size(), parameters) == 1);
    return;
  }
  if (algorithm == SigningId::kGmac) {
    gcm_.emplace(CipherId::kGcm128, key, Aead::Direction::kEncrypts);
    return;
  }
  cipher_.reset(EVP_CIPHER_CTX_new());
  CHECK(EVP_EncryptInit_ex(cipher_.get(), EVP_aes_128_cbc(), nullptr, key.data(), nullptr) == 1);
  CHECK(EVP_CIPHER_CTX_set_padding(cipher_.get(), 0) == 1);
  const std::string zero(kBlockBytes, '\0');
  Chain chain(cipher_.get());
  chain.add(zero);
  whole_ = doubled(chain.finish(Block{}, Block{}));
  partial_ = doubled(whole_);
}

void Signer::sign(std::string& first, const NextPiece& rest) {
  constexpr size_t kFlagsOffset = 16;
  CHECK(first.size() >= kHeaderBytes);
  first[kFlagsOffset] = static_cast<char>(first[kFlagsOffset] | header_flag::kSigned);
  const Signature signed_with = signature(first, rest);
  std::copy(signed_with.begin(), signed_with.end(),
            first.begin() + static_cast<ptrdiff_t>(kSignatureOffset));
}

bool Signer::verify(std::string_view message) {
  Reader reader(message);
  Header header;
  reader(header);
  if (!reader.ok() || !header.has(header_flag::kSigned)) return false;
  const Signature expected = signature(message, nullptr);
  return equals_constant_time({expected.data(), expected.size()},
                              message.substr(kSignatureOffset, kSignatureBytes));
}

Signer::Signature Signer::signature(std::string_view first, const NextPiece& rest) {
  switch (algorithm_) {
    case SigningId::kHmacSha256:
      return hmac(first, rest);
    case SigningId::kCmac:
      return cmac(first, rest);
    case SigningId::kGmac:
      break;
  }
  return gmac(first, rest);
}

Signer::Signature Signer::hmac(std::string_view first, const NextPiece& rest) {
  CHECK(EVP_MAC_init(mac_.get(), nullptr, 0, nullptr) == 1);
  for_each_piece(first, rest, [&](std::string_view piece) {
    CHECK(EVP_MAC_update(mac_.get(), bytes_of(piece), piece.size()) == 1);
  });
  unsigned char whole[32];
  size_t size = 0;
  CHECK(EVP_MAC_final(mac_.get(), whole, &size, sizeof whole) == 1 && size == sizeof whole);
  Signature result;
  std::memcpy(result.data(), whole, result.size());
  return result;
}

Signer::Signature Signer::cmac(std::string_view first, const NextPiece& rest) {
  Chain chain(cipher_.get());
  for_each_piece(first, rest, [&](std::string_view piece) { chain.add(piece); });
  const Block last = chain.finish(whole_, partial_);
  Signature result;
  std::memcpy(result.data(), last.data(), result.size());
  return result;
}

Signer::Signature Signer::gmac(std::string_view first, const NextPiece& rest) {
  constexpr uint32_t kByServer = 1;
  constexpr uint32_t kOfCancel = 2;
  Header header;
  Reader reader(first);
  reader(header);
  CHECK(reader.ok());
  const uint32_t role = (header.has(header_flag::kReply) ? kByServer : 0) |
                        (header.command == Command::kCancel ? kOfCancel : 0);
  char nonce[12];
  std::memcpy(nonce, &header.message_id, sizeof header.message_id);
  std::memcpy(nonce + sizeof header.message_id, &role, sizeof role);
  gcm_->begin(nonce, 0);
  for_each_piece(first, rest, [&](std::string_view piece) { gcm_->authenticate(piece); });
  return gcm_->tag();
}

}  // namespace kyanite::smb
