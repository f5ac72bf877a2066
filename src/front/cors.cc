#include "front/cors.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace kyanite::front {

using account::CorsRule;

namespace {

constexpr std::string_view kAllOrigins = "*";

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         equals_ignoring_case(text.substr(0, prefix.size()), prefix);
}

bool allows_all_origins(const CorsRule& rule) {
  const auto origins = split_list(rule.origins);
  return std::find(origins.begin(), origins.end(), kAllOrigins) != origins.end();
}

// "https://*.contoso.com" stands for all subdomains of contoso.com.
bool fits_origin(std::string_view allowed, std::string_view origin) {
  if (allowed == kAllOrigins || equals_ignoring_case(allowed, origin)) return true;
  constexpr std::string_view kAnySubdomain = "://*.";
  const size_t at = allowed.find(kAnySubdomain);
  if (at == std::string_view::npos) return false;
  const std::string_view scheme = allowed.substr(0, at + 3);
  const std::string_view domain = allowed.substr(at + 4);  // with its dot
  return origin.size() > scheme.size() + domain.size() &&
         starts_with_ignoring_case(origin, scheme) &&
         equals_ignoring_case(origin.substr(origin.size() - domain.size()), domain);
}

bool allows_origin(const CorsRule& rule, std::string_view origin) {
  const auto origins = split_list(rule.origins);
  return std::any_of(origins.begin(), origins.end(),
                     [&](std::string_view allowed) { return fits_origin(allowed, origin); });
}

bool allows_method(const CorsRule& rule, std::string_view method) {
  const auto methods = split_list(rule.methods);
  return std::any_of(methods.begin(), methods.end(), [&](std::string_view allowed) {
    return equals_ignoring_case(allowed, method);
  });
}

// Entries are names, or prefixes that end with an asterisk.
bool names_header(const std::vector<std::string_view>& entries, std::string_view header) {
  return std::any_of(entries.begin(), entries.end(), [&](std::string_view entry) {
    if (entry.back() == '*')
      return starts_with_ignoring_case(header, entry.substr(0, entry.size() - 1));
    return equals_ignoring_case(entry, header);
  });
}

bool allows_headers(const CorsRule& rule, std::string_view headers) {
  const auto allowed = split_list(rule.allowed_headers);
  const auto asked = split_list(headers);
  return std::all_of(asked.begin(), asked.end(),
                     [&](std::string_view header) { return names_header(allowed, header); });
}

std::vector<std::string_view> header_names(const http::Reply& reply) {
  // The connection adds these later.
  std::vector<std::string_view> names = {"Content-Length", "Date"};
  std::string_view rest = reply.head;
  while (!rest.empty()) {
    names.push_back(rest.substr(0, rest.find(':')));
    rest.remove_prefix(rest.find("\r\n") + 2);
  }
  return names;
}

// The names of the reply that the rule exposes, and the rule's own names even when this reply lacks
// them; prefixes are spelled out because browsers take them literally.
std::string exposed_headers(const CorsRule& rule, const http::Reply& reply) {
  const auto entries = split_list(rule.exposed_headers);
  std::vector<std::string_view> exposed;
  const auto add = [&](std::string_view name) {
    for (auto other : exposed) {
      if (equals_ignoring_case(other, name)) return;
    }
    exposed.push_back(name);
  };
  for (auto name : header_names(reply)) {
    if (names_header(entries, name)) add(name);
  }
  for (auto entry : entries) {
    if (entry.back() != '*') add(entry);
  }
  std::string list;
  for (auto name : exposed) {
    if (!list.empty()) list += ',';
    list += name;
  }
  return list;
}

wire::Error missing(std::string_view header) {
  return wire::Error(wire::Code::kInvalidHeaderValue)
      .saying("A required CORS header is not present.")
      .with("HeaderName", header);
}

// Without an origin only a rule for all origins fits.
const CorsRule* find_rule(const std::vector<CorsRule>& rules,
                          std::optional<std::string_view> origin, std::string_view method) {
  for (const auto& rule : rules) {
    const bool fits = origin ? allows_origin(rule, *origin) : allows_all_origins(rule);
    if (fits && allows_method(rule, method)) return &rule;
  }
  return nullptr;
}

}  // namespace

wire::Result<http::Reply> preflight(const http::Request& request,
                                    const std::vector<CorsRule>& rules) {
  const auto origin = request.headers.get("Origin");
  if (origin.empty()) return missing("Origin");
  const auto method = request.headers.get("Access-Control-Request-Method");
  if (method.empty()) return missing("Access-Control-Request-Method");
  const auto headers = request.headers.get("Access-Control-Request-Headers");
  for (const auto& rule : rules) {
    if (!allows_origin(rule, origin) || !allows_method(rule, method) ||
        !allows_headers(rule, headers)) {
      continue;
    }
    http::Reply reply(200);
    reply.header("Access-Control-Allow-Origin", origin);
    reply.header("Access-Control-Allow-Methods", method);
    if (!headers.empty()) reply.header("Access-Control-Allow-Headers", headers);
    reply.header("Access-Control-Max-Age", rule.max_age_s);
    reply.header("Access-Control-Allow-Credentials", "true");
    return reply;
  }
  return wire::Error(wire::Code::kCorsPreflightFailure);
}

void add_cors_headers(http::Reply& reply, const http::Request& request,
                      const std::vector<CorsRule>& rules) {
  if (rules.empty()) return;
  const auto origin = request.headers.find("Origin");
  const CorsRule* rule = find_rule(rules, origin, request.method);
  const bool same_for_all = rule != nullptr && allows_all_origins(*rule);
  if (rule != nullptr) {
    const std::string exposed = exposed_headers(*rule, reply);
    reply.header("Access-Control-Allow-Origin", same_for_all ? kAllOrigins : *origin);
    if (!exposed.empty()) reply.header("Access-Control-Expose-Headers", exposed);
    if (!same_for_all) reply.header("Access-Control-Allow-Credentials", "true");
  }
  const bool cacheable = request.method == "GET" || request.method == "HEAD";
  if (cacheable && !same_for_all) reply.header("Vary", "Origin");
}

}  // namespace kyanite::front
