// Tokens that the server issues by itself, with what they are then held against.
#pragma once

#include <memory>
#include <string>

#include "auth/bearer.h"
#include "base/clock.h"
#include "issuer/token_service.h"
#include "server/admin.h"
#include "server/configuration.h"
#include "server/options.h"

namespace kyanite::server {

class LocalTokens {
 public:
  // The location is the caller's alone by now. The error is a sentence for whoever starts the
  // server.
  static Result<std::unique_ptr<LocalTokens>, std::string> open(const Options& options,
                                                                const TokenConfiguration& tokens,
                                                                const Clock& clock);

  http::Handler& service() { return service_; }
  // Machines ask for their tokens by plain HTTP.
  void add_to(Admin& admin);
  // Once it is known where the service listens.
  void set_port(uint16_t port);
  const auth::TokenRules* rules() const { return &*rules_; }
  const std::string& identity_header() const { return key_->derived_secret(); }

 private:
  LocalTokens(std::unique_ptr<const issuer::TokenKey> key, TokenConfiguration tokens,
              const Clock& clock);

  const std::unique_ptr<const issuer::TokenKey> key_;
  TokenConfiguration tokens_;
  issuer::TokenService service_;
  std::optional<auth::TokenRules> rules_;
};

}  // namespace kyanite::server
