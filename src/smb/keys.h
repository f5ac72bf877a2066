// Keys of a session: derived from what authentication agreed on and, in 3.1.1, from every byte that
// was exchanged up to there.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "smb/numbers.h"

namespace kyanite::smb {

// A key that leaves no trace in memory.
class SecretKey {
 public:
  static constexpr size_t kMaxBytes = 32;

  SecretKey() = default;
  explicit SecretKey(std::string_view bytes);  // At most kMaxBytes.
  SecretKey(const SecretKey&) = default;
  SecretKey& operator=(const SecretKey&) = default;
  ~SecretKey();

  std::string_view view() const { return {reinterpret_cast<const char*>(bytes_.data()), size_}; }
  const unsigned char* data() const { return bytes_.data(); }
  size_t size() const { return size_; }

 private:
  std::array<unsigned char, kMaxBytes> bytes_{};
  size_t size_ = 0;
};

// The hash over the messages of NEGOTIATE and SESSION_SETUP, each from its header to its end. A
// connection has one, of which every new session goes on with a copy of its own. The reply that
// ends SESSION_SETUP with success is not added.
class PreauthHash {
 public:
  void add(std::string_view message);
  std::string_view view() const { return {value_.data(), value_.size()}; }

 private:
  std::array<char, 64> value_{};
};

// SP800-108 in counter mode with HMAC-SHA256, one block. `bytes` is 16 or 32.
SecretKey derive_key(std::string_view from, std::string_view label, std::string_view context,
                     size_t bytes);

struct SessionKeys {
  SecretKey signing;
  SecretKey client_to_server;  // These two from 3.0 on, for the cipher that was agreed on.
  SecretKey server_to_client;
};
// `session_key` is what authentication exported. The hash matters to 3.1.1 only.
SessionKeys derive_session_keys(Dialect dialect, CipherId cipher, std::string_view session_key,
                                const PreauthHash& preauth);

}  // namespace kyanite::smb
