// Signatures of messages: HMAC-SHA256 up to 2.1, AES-CMAC in 3.0, and in 3.1.1 what was negotiated,
// best AES-GMAC, which is several times as fast as the others.
//
// A signer sets up its key once. It serves one thread at a time.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "smb/aead.h"
#include "smb/cipher_context.h"
#include "smb/frame.h"
#include "smb/keys.h"
#include "smb/numbers.h"
#include "smb/pieces.h"

struct evp_mac_ctx_st;

namespace kyanite::smb {

class Signer {
 public:
  Signer(SigningId algorithm, const SecretKey& key);

  // Marks the message as signed and puts the signature into its header. A message may go on in
  // further pieces; `first` has at least the whole header. With GMAC no two messages with one id
  // should be signed and sent: interim replies and breaks go without a signature. Those of logons
  // by which connections are bound to a session are, as the protocol wants it.
  void sign(std::string& first, const NextPiece& rest = nullptr);

  // Whether the signature of a message is right. What is not marked as signed never is.
  bool verify(std::string_view message);

 private:
  using Signature = std::array<char, kSignatureBytes>;
  struct FreeMac {
    void operator()(evp_mac_ctx_st* context) const;
  };

  Signature signature(std::string_view first, const NextPiece& rest);
  Signature hmac(std::string_view first, const NextPiece& rest);
  Signature cmac(std::string_view first, const NextPiece& rest);
  Signature gmac(std::string_view first, const NextPiece& rest);

  SigningId algorithm_;
  std::unique_ptr<evp_mac_ctx_st, FreeMac> mac_;
  std::optional<Aead> gcm_;
  CipherContext cipher_;
  // CMAC: what goes into the last block, if that is whole and if it is not.
  std::array<unsigned char, 16> whole_{};
  std::array<unsigned char, 16> partial_{};
};

}  // namespace kyanite::smb
