#include "auth/bearer.h"

#include <algorithm>
#include <array>

#include "auth/failure.h"
#include "wire/version.h"

namespace kyanite::auth {

namespace {
// Microsoft Entra's issuers in its clouds, for tokens of both versions.
constexpr std::array<std::string_view, 7> kIssuerPrefixes = {
    "https://sts.windows.net/",           "https://sts.windows-ppe.net/",
    "https://sts.microsoftonline.de/",    "https://sts.chinacloudapi.cn/",
    "https://login.microsoftonline.com/", "https://login.microsoftonline.us/",
    "https://login.chinacloudapi.cn/"};

constexpr std::string_view kStorageAudience = "https://storage.azure.com";
// The same resource by its application id.
constexpr std::string_view kStorageApplication = "e406a681-f3d4-42a8-90b6-c2b029497af1";

constexpr std::array<std::string_view, 4> kCloudSuffixes = {
    "core.windows.net", "core.chinacloudapi.cn", "core.usgovcloudapi.net", "core.cloudapi.de"};

std::string_view without_slash(std::string_view audience) {
  if (!audience.empty() && audience.back() == '/') audience.remove_suffix(1);
  return audience;
}

// https://account.service.suffix of this very account and service; the data lake endpoint is the
// blob service's other name.
bool is_account_audience(std::string_view audience, const Target& target) {
  static constexpr std::string_view kScheme = "https://";
  if (audience.substr(0, kScheme.size()) != kScheme) return false;
  audience.remove_prefix(kScheme.size());
  // Compared piece by piece: a token may name many audiences, and none is worth an allocation.
  const auto take = [&](std::string_view label) {
    const bool fits = audience.size() > label.size() && audience.starts_with(label) &&
                      audience[label.size()] == '.';
    if (fits) audience.remove_prefix(label.size() + 1);
    return fits;
  };
  if (!take(target.account)) return false;
  if (!take(name(target.service)) && !(target.service == wire::Service::kBlob && take("dfs")))
    return false;
  return std::find(kCloudSuffixes.begin(), kCloudSuffixes.end(), audience) != kCloudSuffixes.end();
}

// 401 with the challenge; the front adds the WWW-Authenticate header to every 401.
wire::Error refused(std::string_view detail) {
  return wire::Error(wire::Code::kInvalidAuthenticationInfo, 401)
      .saying(wire::default_message(wire::Code::kNoAuthenticationInformation))
      .with("AuthenticationErrorDetail", detail);
}

wire::Result<void> check_lifetime(const Jwt& jwt, Time now) {
  if (!jwt.not_before || !jwt.expires)
    return refused("Lifetime validation failed. The token has no lifetime.");
  const int64_t seconds = now.unix_seconds();
  if (seconds + kTokenSkewSeconds < *jwt.not_before) {
    return refused("Lifetime validation failed. The token is not yet valid.");
  }
  if (seconds - kTokenSkewSeconds >= *jwt.expires)
    return refused("Lifetime validation failed. The token is expired.");
  return {};
}
}  // namespace

TokenRules::TokenRules(std::vector<std::string> issuer_prefixes, std::vector<std::string> audiences,
                       std::optional<KeySet> keys, Roles roles, std::string tenant)
    : issuer_prefixes_(std::move(issuer_prefixes)),
      audiences_(std::move(audiences)),
      keys_(std::move(keys)),
      roles_(std::move(roles)),
      tenant_(std::move(tenant)) {}

bool TokenRules::knows_issuer(std::string_view issuer) const {
  const auto begins = [&](std::string_view prefix) {
    return !prefix.empty() && issuer.substr(0, prefix.size()) == prefix;
  };
  return std::any_of(kIssuerPrefixes.begin(), kIssuerPrefixes.end(), begins) ||
         std::any_of(issuer_prefixes_.begin(), issuer_prefixes_.end(), begins);
}

bool TokenRules::knows_audience(std::string_view audience, const Target& target) const {
  audience = without_slash(audience);
  if (audience == kStorageAudience || audience == kStorageApplication) return true;
  if (is_account_audience(audience, target)) return true;
  return std::any_of(audiences_.begin(), audiences_.end(),
                     [&](std::string_view known) { return without_slash(known) == audience; });
}

wire::Result<Caller> verify_bearer(std::string_view token, const http::Request& request,
                                   const Target& target, const TokenRules* rules,
                                   wire::Version version, Time now) {
  if (rules == nullptr)
    return authentication_failed("Authentication scheme Bearer is not supported.");
  if (version < wire::kBearerTokens) {
    return authentication_failed("Authentication scheme Bearer is not supported in this version.");
  }
  if (!request.secure)
    return authentication_failed("Authentication scheme Bearer is not allowed with HTTP.");

  auto jwt = Jwt::parse(token);
  if (!jwt) return wire::Error(wire::Code::kInvalidAuthenticationInfo);
  if (!rules->signature_holds(*jwt))
    return refused("Signature validation failed. The signature is invalid.");
  if (auto alive = check_lifetime(*jwt, now); !alive) return alive.error();
  if (!rules->knows_issuer(jwt->issuer))
    return refused("Issuer validation failed. Issuer did not match.");
  const bool addressed = std::any_of(
      jwt->audiences.begin(), jwt->audiences.end(),
      [&](std::string_view audience) { return rules->knows_audience(audience, target); });
  if (!addressed) return refused("Audience validation failed. Audience did not match.");

  Caller caller;
  caller.kind = Caller::Kind::kBearer;
  caller.role = rules->roles().of(jwt->object_id, jwt->groups);
  caller.object_id = std::move(jwt->object_id);
  caller.tenant_id = std::move(jwt->tenant_id);
  caller.groups = std::move(jwt->groups);
  return caller;
}

}  // namespace kyanite::auth
