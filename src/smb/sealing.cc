#include "smb/sealing.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/random.h"

namespace kyanite::smb {

namespace {

// Of the transform header, what is authenticated: all behind the signature.
constexpr size_t kAuthenticatedOffset = 20;
constexpr size_t kAuthenticatedBytes = kTransformBytes - kAuthenticatedOffset;
constexpr size_t kTagOffset = 4;

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
constexpr size_t kGcmNonceBytes = 12;
// Of the first eight bytes of a nonce, so many bits count frames.
constexpr int kCountBits = 48;

CipherContext set_up(CipherId cipher, const SecretKey& key, bool encrypts) {
  const EVP_CIPHER* const chosen = algorithm(cipher);
  CHECK(chosen != nullptr && key.size() == static_cast<size_t>(EVP_CIPHER_get_key_length(chosen)));
  CipherContext context(EVP_CIPHER_CTX_new());
  const int direction = encrypts ? 1 : 0;
  CHECK(EVP_CipherInit_ex(context.get(), chosen, nullptr, nullptr, nullptr, direction) == 1);
  if (is_ccm(cipher)) {
    CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_IVLEN, kCcmNonceBytes, nullptr) ==
          1);
    CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kSignatureBytes, nullptr) == 1);
  }
  CHECK(EVP_CipherInit_ex(context.get(), nullptr, nullptr, key.data(), nullptr, direction) == 1);
  return context;
}

unsigned char* bytes_of(char* text) { return reinterpret_cast<unsigned char*>(text); }
const unsigned char* bytes_of(const char* text) {
  return reinterpret_cast<const unsigned char*>(text);
}

// False only for decryption of what was not sealed so.
bool update(EVP_CIPHER_CTX* context, char* to, const char* from, size_t count) {
  int written = 0;
  return EVP_CipherUpdate(context, to == nullptr ? nullptr : bytes_of(to), &written, bytes_of(from),
                          static_cast<int>(count)) == 1;
}

// A message has its own nonce, and CCM wants to know its size.
void begin(CipherId cipher, EVP_CIPHER_CTX* context, const char* transform, size_t count) {
  const unsigned char* const nonce = bytes_of(transform + kAuthenticatedOffset);
  CHECK(EVP_CipherInit_ex(context, nullptr, nullptr, nullptr, nonce, -1) == 1);
  int written = 0;
  if (is_ccm(cipher))
    CHECK(EVP_CipherUpdate(context, nullptr, &written, nullptr, static_cast<int>(count)) == 1);
  CHECK(update(context, nullptr, transform + kAuthenticatedOffset, kAuthenticatedBytes));
}

}  // namespace

Sealer::Sealer(CipherId cipher, const SecretKey& key, uint64_t session_id, uint16_t number)
    : cipher_(cipher),
      session_id_(session_id),
      context_(set_up(cipher, key, true)),
      sent_(uint64_t{number} << kCountBits) {
  const std::string salt = random_bytes(salt_.size());
  std::copy(salt.begin(), salt.end(), salt_.begin());
}

void Sealer::seal(size_t plain_bytes, const NextPiece& next, char* out) {
  const size_t nonce_bytes = is_ccm(cipher_) ? kCcmNonceBytes : kGcmNonceBytes;
  CHECK(++sent_ << (64 - kCountBits) != 0);
  std::array<char, 16> nonce{};
  std::memcpy(nonce.data(), &sent_, sizeof sent_);
  std::copy_n(salt_.begin(), nonce_bytes - sizeof sent_, nonce.begin() + sizeof sent_);
  seal_with(nonce, plain_bytes, next, out);
}

void Sealer::seal_with(const std::array<char, 16>& nonce, size_t plain_bytes, const NextPiece& next,
                       char* out) {
  TransformHeader transform;
  transform.nonce = nonce;
  transform.message_bytes = static_cast<uint32_t>(plain_bytes);
  transform.session_id = session_id_;
  header_.clear();
  append_fields(header_, transform);
  std::copy(header_.begin(), header_.end(), out);
  begin(cipher_, context_.get(), out, plain_bytes);
  char* to = out + kTransformBytes;
  while (const auto piece = next()) {
    CHECK(piece->size() <= static_cast<size_t>(out + kTransformBytes + plain_bytes - to));
    if (piece->empty()) continue;
    if (!is_ccm(cipher_)) {
      CHECK(update(context_.get(), to, piece->data(), piece->size()));
    } else if (piece->data() != to) {
      std::memcpy(to, piece->data(), piece->size());
    }
    to += piece->size();
  }
  // OpenSSL takes all of it at once only.
  char* const whole = out + kTransformBytes;
  if (is_ccm(cipher_)) CHECK(update(context_.get(), whole, whole, plain_bytes));
  int written = 0;
  unsigned char rest[16];
  CHECK(EVP_CipherFinal_ex(context_.get(), rest, &written) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kSignatureBytes,
                            out + kTagOffset) == 1);
}

Opener::Opener(CipherId cipher, const SecretKey& key)
    : cipher_(cipher), context_(set_up(cipher, key, false)) {}

std::optional<std::string_view> Opener::open(std::span<char> frame) {
  const auto transform = read_transform({frame.data(), frame.size()});
  if (!transform || transform->message_bytes == 0) return {};
  char* const bytes = frame.data() + kTransformBytes;
  const size_t count = transform->message_bytes;
  CHECK(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kSignatureBytes,
                            frame.data() + kTagOffset) == 1);
  begin(cipher_, context_.get(), frame.data(), count);
  if (!update(context_.get(), bytes, bytes, count)) return {};
  int written = 0;
  unsigned char rest[16];
  // CCM has compared the tag already.
  if (!is_ccm(cipher_) && EVP_CipherFinal_ex(context_.get(), rest, &written) != 1) return {};
  return std::string_view(bytes, count);
}

}  // namespace kyanite::smb
