// Tokens for programs under test: what Microsoft Entra and the managed identities of Azure answer,
// as far as DefaultAzureCredential asks, signed with this server's own key. Whoever asks gets a
// token, so it is for loopback only; requests whose Host is not loopback's are refused, too, so
// that no web page gets one by a name of its own.
//
//   /TENANT/.well-known/openid-configuration, /TENANT/v2.0/.well-known/openid-configuration
//   /TENANT/discovery/keys, /TENANT/discovery/v2.0/keys
//   /TENANT/oauth2/token, /TENANT/oauth2/v2.0/token     client credentials, any secret
//   /metadata/identity/oauth2/token                     as in a virtual machine
//   /msi/token                                          as in an App Service
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/message.h"
#include "issuer/token_key.h"
#include "wire/query.h"

namespace kyanite::issuer {

inline constexpr std::string_view kVirtualMachinePath = "/metadata/identity/oauth2/token";
inline constexpr std::string_view kAppServicePath = "/msi/token";
// The one tenant name with which the SDKs ask nobody else whether an authority is to be trusted.
inline constexpr std::string_view kUnquestionedTenant = "adfs";
inline constexpr int64_t kTokenLife_s = 60 * 60;
// Longer forms are refused.
inline constexpr size_t kMaxFormBytes = 16 * 1024;

class TokenService final : public http::Handler {
 public:
  TokenService(const TokenKey& key, const Clock& clock) : key_(key), clock_(clock) {}

  // Where it is served by HTTPS; before the first request.
  void set_port(uint16_t port) { port_ = port; }
  // What its tokens name as their issuer begins with one of these.
  std::vector<std::string> issuer_prefixes() const;

  Task<http::Reply> serve(http::Request& request) override;

 private:
  Task<http::Reply> give_to_client(http::Request& request, std::string_view tenant) const;
  http::Reply give_to_machine(const http::Request& request, bool app_service) const;
  http::Reply configuration(const http::Request& request, std::string_view tenant) const;
  std::string make_token(std::string_view issuer, std::string_view tenant,
                         std::string_view audience, std::string_view client) const;

  const TokenKey& key_;
  const Clock& clock_;
  uint16_t port_ = 0;
};

}  // namespace kyanite::issuer
