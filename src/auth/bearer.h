// OAuth bearer tokens: "Authorization: Bearer <JWT>".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/caller.h"
#include "auth/jwks.h"
#include "auth/role.h"
#include "auth/target.h"
#include "base/clock.h"
#include "http/message.h"
#include "wire/error.h"
#include "wire/version.h"

namespace kyanite::auth {

// Which tokens count.
class TokenRules {
 public:
  // Issuers and audiences are accepted besides Azure's own. Without a key set signatures are not
  // verified: whoever can reach the server can then make tokens, which is what development against
  // an emulator wants and nothing else should.
  explicit TokenRules(std::vector<std::string> issuer_prefixes = {},
                      std::vector<std::string> audiences = {},
                      std::optional<KeySet> keys = std::nullopt, Roles roles = Roles(),
                      std::string tenant = "common");

  bool knows_issuer(std::string_view issuer) const;
  bool knows_audience(std::string_view audience, const Target& target) const;
  // Whether there is a key set to hold signatures against.
  bool verifies() const { return keys_.has_value(); }
  bool signature_holds(const Jwt& token) const { return !keys_ || keys_->verify(token); }
  const Roles& roles() const { return roles_; }
  const std::string& tenant() const { return tenant_; }

 private:
  std::vector<std::string> issuer_prefixes_;
  std::vector<std::string> audiences_;
  std::optional<KeySet> keys_;
  Roles roles_;
  std::string tenant_;
};

// How far a token's times may be off: what Microsoft's own validators allow.
inline constexpr int64_t kTokenSkewSeconds = 5 * 60;

// `token` is what follows "Bearer ". `rules` may be null: bearer tokens are then refused, and so
// they are in versions of the protocol before there were any. Tokens are refused on connections
// without TLS, loopback included: they are as good as passwords, clients refuse to send them so
// too, and an exception for loopback would be a difference to the service that only shows in
// production.
wire::Result<Caller> verify_bearer(std::string_view token, const http::Request& request,
                                   const Target& target, const TokenRules* rules,
                                   wire::Version version, Time now);

}  // namespace kyanite::auth
