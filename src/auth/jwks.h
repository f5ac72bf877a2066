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

  // Whether one of the keys made the token's signature. Only the key the token names is tried when
  // it names one that is here.
  bool verify(const Jwt& token) const;

 private:
  struct Entry;
  std::vector<Entry> keys_;
};

}  // namespace kyanite::auth
