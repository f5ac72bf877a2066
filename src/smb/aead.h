// Encryption with authentication by one key, AES-GCM or AES-CCM. GCM of a message of which nothing
// is encrypted is the signature GMAC.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "smb/cipher_context.h"
#include "smb/frame.h"
#include "smb/keys.h"
#include "smb/numbers.h"
#include "smb/wide_gcm.h"

namespace kyanite::smb {

// Serves one thread at a time.
class Aead {
 public:
  using Tag = std::array<char, kSignatureBytes>;
  enum class Direction { kEncrypts, kDecrypts };
  // By how many blocks at once GCM goes. CCM is always OpenSSL's.
  enum class Instructions { kOfOpenSsl, kTwoBlocks, kFourBlocks };
  static bool has(Instructions instructions);
  // What is fastest on this processor.
  static Instructions best();
  static size_t nonce_bytes(CipherId cipher);
  // Whether what is encrypted may come in pieces: CCM takes it all at once.
  static bool takes_pieces(CipherId cipher);

  Aead(CipherId cipher, const SecretKey& key, Direction direction, Instructions by = best());

  // A message to encrypt: its nonce, what is only authenticated, and what is encrypted, whose size
  // CCM has to know before.
  void begin(const char* nonce, size_t plain_bytes);
  void authenticate(std::string_view bytes);
  void encrypt(const char* from, char* to, size_t count);
  Tag tag();

  // Decrypts a message in place. False when it is not what the holder of the key encrypted.
  bool decrypt(const char* nonce, std::string_view authenticated, const Tag& tag,
               std::span<char> bytes);

 private:
  CipherId cipher_;
  std::optional<WideGcm> wide_;
  CipherContext context_;  // Nothing where the one above serves.
};

}  // namespace kyanite::smb
