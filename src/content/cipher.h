// Encryption of contents with a key that only its owner has: AES-256 in counter mode, so that any
// part of a piece can be read by itself. The server keeps nothing of the key.
//
// Every run and every inline piece is encrypted under a nonce of its own, drawn anew whenever bytes
// are written: no two writes share a keystream, also not at the same offset of a page blob.
// docs/decisions/customer-keys.md tells why this mode.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/executor.h"
#include "base/task.h"

namespace kyanite::content {

// How the bytes of a piece are encrypted.
struct Seal {
  std::array<char, 12> nonce{};
  uint32_t skip = 0;  // How far into the keystream of the nonce the first byte is.
  bool operator==(const Seal&) const = default;
};
// Under a nonce that was never used.
Seal new_seal();

class Cipher {
 public:
  static constexpr size_t kKeyBytes = 32;

  // Large pieces are worked on by the workers, who must outlive the cipher.
  Cipher(std::string_view key, Workers& workers);
  ~Cipher();  // Wipes the key from memory.
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;

  // Encrypts or decrypts in place. The bytes must stay until this is done.
  Task<void> apply(Seal seal, char* bytes, size_t count) const;

 private:
  void apply_here(const Seal& seal, char* bytes, size_t count) const;

  std::array<unsigned char, kKeyBytes> key_;
  Workers& workers_;
};
using CipherPtr = std::shared_ptr<const Cipher>;

}  // namespace kyanite::content
