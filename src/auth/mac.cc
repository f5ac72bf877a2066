// The one user of OpenSSL's plain SHA-256 functions: through its general interface an HMAC of a
// few hundred bytes costs twice the hashing.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "auth/mac.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cstring>

namespace kyanite::auth {

namespace {
static_assert(kMacBytes == SHA256_DIGEST_LENGTH);

// HMAC (RFC 2104) hashes the key, padded in one way, before the text, and padded in another before
// the result. Both beginnings depend on the key alone.
struct Prepared {
  SHA256_CTX inner;
  SHA256_CTX outer;
};

SHA256_CTX begin(const std::array<unsigned char, SHA256_CBLOCK>& key, unsigned char pad) {
  auto block = key;
  for (auto& byte : block) byte ^= pad;
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, block.data(), block.size());
  OPENSSL_cleanse(block.data(), block.size());
  return state;
}

Prepared prepare(std::string_view key) {
  std::array<unsigned char, SHA256_CBLOCK> block{};
  if (key.size() > block.size()) {
    SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), block.data());
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  const Prepared prepared{begin(block, 0x36), begin(block, 0x5c)};
  OPENSSL_cleanse(block.data(), block.size());
  return prepared;
}

// The most recently prepared keys of one thread. A server has few accounts in use at a time, and a
// miss costs a microsecond, so that a small ring searched linearly does.
class PreparedKeys {
 public:
  const Prepared& find(const Key& key) {
    for (auto& slot : slots_) {
      if (slot.used && slot.serial == key.serial()) return slot.prepared;
    }
    auto& slot = slots_[next_++ % slots_.size()];
    slot = {true, key.serial(), prepare(key.bytes())};
    return slot.prepared;
  }

 private:
  struct Slot {
    bool used = false;
    uint64_t serial = 0;
    Prepared prepared = {};
  };
  std::array<Slot, 8> slots_;
  size_t next_ = 0;
};

void finish(Prepared prepared, std::string_view text, std::array<char, kMacBytes>& out) {
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  SHA256_Update(&prepared.inner, text.data(), text.size());
  SHA256_Final(bytes, &prepared.inner);
  SHA256_Update(&prepared.outer, bytes, kMacBytes);
  SHA256_Final(bytes, &prepared.outer);
}
}  // namespace

Mac Mac::of(const Key& key, std::string_view text) {
  thread_local PreparedKeys prepared;
  Mac mac;
  finish(prepared.find(key), text, mac.bytes_);
  return mac;
}

Mac Mac::of(std::string_view key, std::string_view text) {
  Mac mac;
  finish(prepare(key), text, mac.bytes_);
  return mac;
}

}  // namespace kyanite::auth
