// Encryption of frames from 3.0 on. Each direction of a session has a key and an object of its own,
// which serves one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "smb/aead.h"
#include "smb/frame.h"
#include "smb/keys.h"
#include "smb/numbers.h"
#include "smb/pieces.h"

namespace kyanite::smb {

// What is sent. Cannot be copied, because its nonces count.
class Sealer {
 public:
  // Several objects may have one key if each has a `number` of its own, which goes into its nonces.
  Sealer(CipherId cipher, const SecretKey& key, uint64_t session_id, uint16_t number = 0);
  Sealer(Sealer&&) = default;
  Sealer& operator=(Sealer&&) = default;

  // Encrypts a frame, given in pieces that have so many bytes together, to `out`, which has room
  // for kTransformBytes more. Nothing of a piece may be in `out`, unless it is in its place there.
  void seal(size_t plain_bytes, const NextPiece& next, char* out);

 private:
  friend class SealerForTest;
  void seal_with(const std::array<char, 16>& nonce, size_t plain_bytes, const NextPiece& next,
                 char* out);

  CipherId cipher_;
  uint64_t session_id_;
  Aead aead_;
  // The nonce of a frame: the object's number and how many frames there were before, which never
  // come twice, and behind it bytes by which the same key on another server, if that ever happened,
  // would not repeat one.
  uint64_t sent_;
  std::array<char, 4> salt_{};
  std::string header_;  // Of the frame at hand; kept for its memory.
};

// What is received.
class Opener {
 public:
  Opener(CipherId cipher, const SecretKey& key);

  // Decrypts a frame in place. Its plain bytes, or nothing, and the connection ends, when it is not
  // a frame that the holder of the key sealed. The caller has found the key by the session id of
  // read_transform(), and holds the messages' session ids against that.
  std::optional<std::string_view> open(std::span<char> frame);

 private:
  Aead aead_;
};

}  // namespace kyanite::smb
