#include "issuer/token_service.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "wire/json.h"

namespace kyanite::issuer {

namespace {

constexpr size_t kMaxTextBytes = 512;
// Who asks without saying who it is: the identity of the machine.
constexpr std::string_view kMachineClient = "machine";

http::Reply json_reply(int status, std::string body) {
  http::Reply reply(status);
  reply.header("Content-Type", "application/json; charset=utf-8");
  reply.header("Cache-Control", "no-store");
  reply.body = std::move(body);
  return reply;
}

// As OAuth says it (RFC 6749, 5.2).
http::Reply refuse(int status, std::string_view error, std::string_view why) {
  std::string body;
  wire::JsonWriter json(body);
  json.begin_object().member("error", error).member("error_description", why).end_object();
  return json_reply(status, std::move(body));
}

// The host without its port is loopback's. Its text is then safe to repeat.
bool is_local_host(std::string_view host) {
  for (const std::string_view name : {"localhost", "127.0.0.1", "[::1]"}) {
    if (!host.starts_with(name)) continue;
    const std::string_view port = host.substr(name.size());
    if (port.empty() || (port.front() == ':' && port.size() <= 6 && parse_uint(port.substr(1))))
      return true;
  }
  return false;
}

bool is_tenant(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  });
}

bool is_short_text(std::string_view text) {
  return !text.empty() && text.size() <= kMaxTextBytes && is_valid_utf8(text);
}

// The resource that a token is for: "https://storage.azure.com" of the scope
// "https://storage.azure.com/.default", or of a resource with or without a slash behind it.
std::optional<std::string> audience_of(std::string_view scope, std::string_view resource) {
  static constexpr std::string_view kDefault = "/.default";
  std::string_view audience = resource;
  if (audience.empty()) {
    // MSAL adds scopes of its own behind the one it was asked for.
    scope = scope.substr(0, scope.find(' '));
    if (!scope.ends_with(kDefault)) return {};
    audience = scope.substr(0, scope.size() - kDefault.size());
  }
  if (audience.ends_with('/')) audience.remove_suffix(1);
  if (!is_short_text(audience)) return {};
  return std::string(audience);
}

Task<std::optional<std::string>> read_form(http::BodyReader& body) {
  std::string form;
  for (;;) {
    const auto piece = co_await body.next();
    if (!piece) co_return std::nullopt;
    if (piece->size() == 0) co_return form;
    if (form.size() + piece->size() > kMaxFormBytes) co_return std::nullopt;
    form += piece->view();
  }
}

// Of a tenant: its own id, or one made from its name.
std::string id_of(std::string_view text) {
  return is_uuid(text) ? ascii_lower(text) : uuid_of(text);
}

}  // namespace

std::vector<std::string> TokenService::issuer_prefixes() const {
  std::vector<std::string> prefixes;
  for (const char* host : {"localhost", "127.0.0.1", "[::1]"})
    prefixes.push_back("https://" + std::string(host) + ":" + std::to_string(port_) + "/");
  return prefixes;
}

std::string TokenService::make_token(std::string_view issuer, std::string_view tenant,
                                     std::string_view audience, std::string_view client) const {
  const int64_t now = clock_.now().unix_seconds();
  std::string claims;
  wire::JsonWriter json(claims);
  json.begin_object().member("aud", audience).member("iss", issuer);
  json.key("iat").integer(now).key("nbf").integer(now).key("exp").integer(now + kTokenLife_s);
  json.member("appid", client).member("oid", id_of(client)).member("sub", id_of(client));
  json.member("tid", id_of(tenant)).member("ver", "1.0").end_object();
  return key_.sign(claims);
}

http::Reply TokenService::configuration(const http::Request& request,
                                        std::string_view tenant) const {
  const std::string base =
      "https://" + std::string(request.headers.get("Host")) + "/" + std::string(tenant);
  std::string body;
  wire::JsonWriter json(body);
  json.begin_object().member("issuer", base + "/");
  json.member("token_endpoint", base + "/oauth2/v2.0/token");
  json.member("jwks_uri", base + "/discovery/v2.0/keys");
  // Nobody signs in here; clients want to be told where all the same.
  json.member("authorization_endpoint", base + "/oauth2/v2.0/authorize");
  json.member("end_session_endpoint", base + "/oauth2/v2.0/logout");
  const auto list = [&](std::string_view name, std::initializer_list<std::string_view> items) {
    json.key(name).begin_array();
    for (const std::string_view item : items) json.string(item);
    json.end_array();
  };
  list("token_endpoint_auth_methods_supported", {"client_secret_post", "private_key_jwt"});
  list("grant_types_supported", {"client_credentials"});
  list("response_types_supported", {"token"});
  list("subject_types_supported", {"pairwise"});
  list("id_token_signing_alg_values_supported", {"RS256"});
  json.end_object();
  return json_reply(200, std::move(body));
}

Task<http::Reply> TokenService::give_to_client(http::Request& request,
                                               std::string_view tenant) const {
  if (request.method != "POST") co_return refuse(405, "invalid_request", "only POST");
  const auto form = co_await read_form(*request.body);
  if (!form) {
    auto refusal = refuse(400, "invalid_request", "a form of at most 16 KiB is wanted");
    refusal.close = true;
    co_return refusal;
  }
  const auto fields = wire::Query::parse(*form);
  if (!fields) co_return refuse(400, "invalid_request", "the form is malformed");
  if (fields->get("grant_type") != "client_credentials") {
    co_return refuse(400, "unsupported_grant_type",
                     "only client_credentials; nobody signs in at this server");
  }
  const std::string_view client = fields->get("client_id");
  if (!is_short_text(client)) co_return refuse(400, "invalid_request", "client_id is missing");
  if (fields->get("client_secret").empty() && fields->get("client_assertion").empty()) {
    co_return refuse(401, "invalid_client",
                     "client_secret or client_assertion is missing; any is taken");
  }
  const auto audience = audience_of(fields->get("scope"), fields->get("resource"));
  if (!audience) {
    co_return refuse(400, "invalid_scope", "a scope that ends with /.default is wanted");
  }
  const std::string issuer =
      "https://" + std::string(request.headers.get("Host")) + "/" + std::string(tenant) + "/";
  std::string body;
  wire::JsonWriter json(body);
  json.begin_object().member("token_type", "Bearer");
  json.key("expires_in").integer(kTokenLife_s).key("ext_expires_in").integer(kTokenLife_s);
  json.member("access_token", make_token(issuer, tenant, *audience, client)).end_object();
  co_return json_reply(200, std::move(body));
}

http::Reply TokenService::give_to_machine(const http::Request& request, bool app_service) const {
  if (request.method != "GET") return refuse(405, "invalid_request", "only GET");
  if (app_service) {
    if (!equals_constant_time(request.headers.get("X-IDENTITY-HEADER"), key_.derived_secret()))
      return refuse(401, "unauthorized_client", "X-IDENTITY-HEADER is not that of this server");
  } else if (!equals_ignoring_case(request.headers.get("Metadata"), "true")) {
    return refuse(400, "invalid_request", "the header Metadata: true is missing");
  }
  const auto query = wire::Query::parse(request.query);
  const auto audience = query ? audience_of({}, query->get("resource")) : std::nullopt;
  if (!audience) return refuse(400, "invalid_request", "the parameter resource is missing");
  std::string client(kMachineClient);
  for (const char* name : {"client_id", "object_id", "principal_id", "mi_res_id", "msi_res_id"}) {
    const std::string_view given = query->get(name);
    if (given.empty()) continue;
    if (!is_short_text(given)) return refuse(400, "invalid_request", "the identity is malformed");
    client = given;
    break;
  }
  const std::string life = std::to_string(kTokenLife_s);
  const int64_t now = clock_.now().unix_seconds();
  const std::string issuer = issuer_prefixes().front() + std::string(kUnquestionedTenant) + "/";
  std::string body;
  wire::JsonWriter json(body);
  json.begin_object();
  json.member("access_token", make_token(issuer, kUnquestionedTenant, *audience, client));
  json.member("client_id", id_of(client)).member("resource", *audience);
  json.member("expires_in", life).member("expires_on", std::to_string(now + kTokenLife_s));
  json.member("not_before", std::to_string(now)).member("token_type", "Bearer").end_object();
  return json_reply(200, std::move(body));
}

Task<http::Reply> TokenService::serve(http::Request& request) {
  if (!is_local_host(request.headers.get("Host")))
    co_return refuse(421, "invalid_request", "this server is asked by a name of loopback only");
  std::string_view path = request.path;
  if (path.ends_with('/')) path.remove_suffix(1);  // MSAL for JavaScript adds one.
  if (path == kVirtualMachinePath) co_return give_to_machine(request, false);
  if (path == kAppServicePath) co_return give_to_machine(request, true);
  const size_t slash = path.find('/', 1);
  const std::string_view tenant =
      slash == std::string_view::npos ? std::string_view() : path.substr(1, slash - 1);
  if (is_tenant(tenant)) {
    const std::string_view rest = path.substr(slash);
    if (rest == "/oauth2/v2.0/token" || rest == "/oauth2/token")
      co_return co_await give_to_client(request, tenant);
    const bool reads = request.method == "GET";
    if (reads && (rest == "/.well-known/openid-configuration" ||
                  rest == "/v2.0/.well-known/openid-configuration")) {
      co_return configuration(request, tenant);
    }
    if (reads && (rest == "/discovery/v2.0/keys" || rest == "/discovery/keys"))
      co_return json_reply(200, key_.key_set());
  }
  co_return refuse(404, "invalid_request",
                   "here are /TENANT/.well-known/openid-configuration and what it names");
}

}  // namespace kyanite::issuer
