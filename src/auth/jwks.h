// The public keys that tokens are signed with, from a JSON web key set file: RSA keys for RS256,
// P-256 keys for ES256.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "auth/jwt.h"
#include "base/result.h"

namespace kyanite::auth {

// A set of more keys is refused: a token that names none is held against all of them.
inline constexpr size_t kMaxKeys = 64;

// Read once at start; verify() may be called from any thread.
class KeySet {
 public:
  KeySet();
  KeySet(KeySet&&) noexcept;
  KeySet& operator=(KeySet&&) noexcept;
  ~KeySet();

  // The error is a sentence for whoever starts the server. Keys of other kinds or uses are skipped;
  // a set without any usable key is an error.
  static Result<KeySet, std::string> parse(std::string_view json);

  // Whether one of the keys made the token's signature. A token that names its key is held against
  // that one, and against keys that have no name, only.
  bool verify(const Jwt& token) const;

 private:
  struct Entry;
  std::vector<Entry> keys_;
};

}  // namespace kyanite::auth
