#include "auth/authenticate.h"

#include "auth/bearer.h"
#include "auth/failure.h"
#include "auth/sas.h"
#include "auth/shared_key.h"
#include "base/bytes.h"
#include "wire/query.h"
#include "wire/version.h"

namespace kyanite::auth {

namespace {
constexpr wire::Version kBearerChallenges{20191212};

// Two of them are as good as a malformed one: "".
std::optional<std::string_view> find_authorization(const http::Headers& headers) {
  static constexpr std::string_view kName = "authorization";
  std::optional<std::string_view> found;
  for (const auto& header : headers) {
    if (header.name.size() != kName.size() || !equals_ignoring_case(header.name, kName)) continue;
    found = found ? std::string_view() : header.value;
  }
  return found;
}

// What follows "Bearer ", or nothing for other schemes.
std::optional<std::string_view> bearer_token(std::string_view authorization) {
  static constexpr std::string_view kScheme = "Bearer ";
  if (!equals_ignoring_case(authorization.substr(0, kScheme.size()), kScheme)) return {};
  return trim(authorization.substr(kScheme.size()));
}

Caller anonymous(const http::Request& request, const wire::Query& query) {
  auto version = wire::Version::parse(request.headers.get("x-ms-version"));
  if (!version) version = wire::Version::parse(query.get("api-version"));
  Caller caller;
  caller.expects_challenge = version && *version >= kBearerChallenges;
  return caller;
}

const Roles* roles_of(const Settings& settings) {
  return settings.token_rules == nullptr ? nullptr : &settings.token_rules->roles();
}

// A SAS bound to one user (sduoid) counts only beside that user's own token.
wire::Result<Caller> verify_bound_sas(std::string_view token, const http::Request& request,
                                      const wire::Query& query, const Target& target,
                                      const Account& account, const Settings& settings,
                                      wire::Version version, Time now) {
  auto bearer = verify_bearer(token, request, target, settings.token_rules, version, now);
  if (!bearer) return bearer;
  auto caller = verify_sas(request, query, target, account, now, roles_of(settings));
  if (!caller) return caller;
  const std::string_view tenant =
      query.get("skdutid").empty() ? std::string_view(caller->tenant_id) : query.get("skdutid");
  if (caller->kind != Caller::Kind::kUserDelegationSas ||
      bearer->object_id != query.get("sduoid") || bearer->tenant_id != tenant) {
    return authentication_failed("The token is not that of the signed delegated user.");
  }
  return caller;
}

wire::Result<void> take(wire::Result<Caller> verified, Caller& caller) {
  if (!verified) return verified.error();
  caller = std::move(*verified);
  return {};
}
}  // namespace

wire::Result<void> authenticate(const http::Request& request, const wire::Query& query,
                                const Target& target, const Settings& settings,
                                wire::Version version, Time now, Caller& caller) {
  const auto account = settings.accounts->find(target.account);
  if (account == nullptr) return wire::Error(wire::Code::kResourceNotFound);
  const auto authorization = find_authorization(request.headers);
  const bool bound = query.has("sduoid");
  if (authorization) {
    // The header decides, whatever the query says: it is the stronger credential, and it is what
    // the service looks at first.
    if (const auto token = bearer_token(*authorization)) {
      if (bound && query.has("sig")) {
        return take(
            verify_bound_sas(*token, request, query, target, *account, settings, version, now),
            caller);
      }
      return take(verify_bearer(*token, request, target, settings.token_rules, version, now),
                  caller);
    }
    const auto credential = SharedKeyCredential::parse(*authorization);
    if (!credential) return wire::Error(wire::Code::kInvalidAuthenticationInfo);
    auto verified = verify_shared_key(*credential, request, query, target, *account, now);
    if (verified) caller.kind = Caller::Kind::kOwner;
    return verified;
  }
  if (query.has("sig")) {
    if (bound)
      return authentication_failed("The signed delegated user must authenticate with a token.");
    return take(verify_sas(request, query, target, *account, now, roles_of(settings)), caller);
  }
  caller = anonymous(request, query);
  return {};
}

std::string challenge(const Settings& settings) {
  const std::string tenant =
      settings.token_rules == nullptr ? "common" : settings.token_rules->tenant();
  return "Bearer authorization_uri=https://login.microsoftonline.com/" + tenant +
         "/oauth2/authorize resource_id=https://storage.azure.com";
}

}  // namespace kyanite::auth
