#include "smb/sealing.h"

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

// Of the first eight bytes of a nonce, so many bits count frames.
constexpr int kCountBits = 48;

}  // namespace

Sealer::Sealer(CipherId cipher, const SecretKey& key, uint64_t session_id, uint16_t number)
    : cipher_(cipher),
      session_id_(session_id),
      aead_(cipher, key, Aead::Direction::kEncrypts),
      sent_(uint64_t{number} << kCountBits) {
  const std::string salt = random_bytes(salt_.size());
  std::copy(salt.begin(), salt.end(), salt_.begin());
}

void Sealer::seal(size_t plain_bytes, const NextPiece& next, char* out) {
  CHECK(++sent_ << (64 - kCountBits) != 0);
  std::array<char, 16> nonce{};
  std::memcpy(nonce.data(), &sent_, sizeof sent_);
  std::copy_n(salt_.begin(), Aead::nonce_bytes(cipher_) - sizeof sent_,
              nonce.begin() + sizeof sent_);
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
  aead_.begin(nonce.data(), plain_bytes);
  aead_.authenticate({out + kAuthenticatedOffset, kAuthenticatedBytes});
  const bool in_pieces = Aead::takes_pieces(cipher_);
  char* to = out + kTransformBytes;
  while (const auto piece = next()) {
    CHECK(piece->size() <= static_cast<size_t>(out + kTransformBytes + plain_bytes - to));
    if (piece->empty()) continue;
    if (in_pieces) {
      aead_.encrypt(piece->data(), to, piece->size());
    } else if (piece->data() != to) {
      std::memcpy(to, piece->data(), piece->size());
    }
    to += piece->size();
  }
  char* const whole = out + kTransformBytes;
  if (!in_pieces) aead_.encrypt(whole, whole, plain_bytes);
  const Aead::Tag tag = aead_.tag();
  std::copy(tag.begin(), tag.end(), out + kTagOffset);
}

Opener::Opener(CipherId cipher, const SecretKey& key)
    : aead_(cipher, key, Aead::Direction::kDecrypts) {}

std::optional<std::string_view> Opener::open(std::span<char> frame) {
  const auto transform = read_transform({frame.data(), frame.size()});
  if (!transform || transform->message_bytes == 0) return {};
  const std::span<char> bytes = frame.subspan(kTransformBytes, transform->message_bytes);
  Aead::Tag tag;
  std::copy_n(frame.data() + kTagOffset, tag.size(), tag.begin());
  const std::string_view authenticated(frame.data() + kAuthenticatedOffset, kAuthenticatedBytes);
  if (!aead_.decrypt(transform->nonce.data(), authenticated, tag, bytes)) return {};
  return std::string_view(bytes.data(), bytes.size());
}

}  // namespace kyanite::smb
