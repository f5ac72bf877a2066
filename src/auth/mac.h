// HMAC-SHA256, prepared once a key and thread: a check then costs the hashing of the text and
// little else.
#pragma once

#include <array>
#include <string_view>

#include "auth/account.h"

namespace kyanite::auth {

inline constexpr size_t kMacBytes = 32;

class Mac {
 public:
  std::string_view bytes() const { return {bytes_.data(), bytes_.size()}; }

  // With an account's key: uses this thread's prepared state.
  static Mac of(const Key& key, std::string_view text);
  // With a key that is seldom seen again.
  static Mac of(std::string_view key, std::string_view text);

 private:
  std::array<char, kMacBytes> bytes_;
};

}  // namespace kyanite::auth
