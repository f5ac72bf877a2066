// The key that signs this server's own tokens: RSA, as those of Microsoft Entra.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kyanite::issuer {

// Thread-safe.
class TokenKey {
 public:
  // The one kept in the directory (token_key.pem, for its owner alone), or a new one. The error is
  // a sentence for whoever starts the server.
  static Result<std::unique_ptr<const TokenKey>, std::string> open(const std::string& directory);
  // One that is kept nowhere.
  static std::unique_ptr<const TokenKey> make();

  ~TokenKey();

  // The public key as a JSON web key set.
  const std::string& key_set() const { return key_set_; }
  // A token in its compact form; `claims` is JSON. Takes about a millisecond.
  std::string sign(std::string_view claims) const;
  // What only those know who can read the key, or were told by the server.
  const std::string& derived_secret() const { return derived_secret_; }

 private:
  struct State;
  explicit TokenKey(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
  std::string id_;
  std::string key_set_;
  std::string derived_secret_;
};

// Without padding.
std::string base64url(std::string_view bytes);

// A UUID that is always the same for the same text: object ids of identities.
std::string uuid_of(std::string_view text);
bool is_uuid(std::string_view text);

}  // namespace kyanite::issuer
