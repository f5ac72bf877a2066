// AES-GCM by instructions that take several blocks at once, VAES and VPCLMULQDQ: two with AVX2,
// four with AVX-512. They need half and a third of the time of those for one block, which are all
// that OpenSSL 3.0 knows.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "smb/keys.h"

namespace kyanite::smb {

// Serves one thread at a time. No step depends on a secret: neither branches nor addresses do.
class WideGcm {
 public:
  static constexpr size_t kNonceBytes = 12;
  static constexpr size_t kBlockBytes = 16;
  using Block = std::array<unsigned char, kBlockBytes>;
  enum class Width { kTwoBlocks, kFourBlocks };

  // Whether this processor has the instructions.
  static bool is_supported(Width width);

  WideGcm(const SecretKey& key, Width width);  // Of 16 or 32 bytes; a width that is supported.
  WideGcm(WideGcm&&) noexcept;
  WideGcm& operator=(WideGcm&&) noexcept;
  ~WideGcm();

  // A message: begin(), what is only authenticated, what is encrypted or decrypted, the tag. Both
  // may come in pieces of any size. `to` is `from` or has nothing in common with it.
  void begin(const char* nonce);
  void authenticate(std::string_view bytes);
  void encrypt(const char* from, char* to, size_t count);
  void decrypt(const char* from, char* to, size_t count);
  Block tag();

 private:
  struct State;

  template <bool kEncrypts>
  void crypt(const char* from, char* to, size_t count);

  std::unique_ptr<State> state_;
};

}  // namespace kyanite::smb
