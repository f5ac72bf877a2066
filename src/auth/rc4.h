// RC4, with which NTLM carries session keys. OpenSSL 3 has it only in a provider that need not be
// installed. Broken as a cipher; nothing but NTLM may use it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace kyanite::auth {

// Encrypts, and decrypts what was encrypted. `key` has 1 to 256 bytes.
inline std::string rc4(std::string_view key, std::string_view text) {
  CHECK(!key.empty() && key.size() <= 256);
  std::array<uint8_t, 256> state;
  for (size_t i = 0; i < state.size(); ++i) state[i] = static_cast<uint8_t>(i);
  uint8_t j = 0;
  for (size_t i = 0; i < state.size(); ++i) {
    j = static_cast<uint8_t>(j + state[i] + static_cast<uint8_t>(key[i % key.size()]));
    std::swap(state[i], state[j]);
  }
  std::string out(text);
  uint8_t i = 0;
  j = 0;
  for (char& byte : out) {
    j = static_cast<uint8_t>(j + state[++i]);
    std::swap(state[i], state[j]);
    const uint8_t sum = static_cast<uint8_t>(state[i] + state[j]);
    byte = static_cast<char>(static_cast<uint8_t>(byte) ^ state[sum]);
  }
  return out;
}

}  // namespace kyanite::auth
