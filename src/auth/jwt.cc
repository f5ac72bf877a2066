#include "auth/jwt.h"

#include <simdjson.h>

#include "base/bytes.h"

namespace kyanite::auth {

namespace {
using simdjson::dom::element;

// Absent is fine, another type is not.
bool read_string(element object, const char* name, std::string& out) {
  element value;
  if (object[name].get(value) != simdjson::SUCCESS) return true;
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return false;
  out = text;
  return true;
}

bool read_seconds(element object, const char* name, std::optional<int64_t>& out) {
  element value;
  if (object[name].get(value) != simdjson::SUCCESS) return true;
  int64_t seconds = 0;
  if (value.get(seconds) != simdjson::SUCCESS) return false;
  // Years 1970 to 9999, so that arithmetic on them cannot overflow.
  if (seconds < 0 || seconds > 253'402'300'799) return false;
  out = seconds;
  return true;
}

// One string, or a list of strings.
bool read_strings(element object, const char* name, size_t most, std::vector<std::string>& out) {
  element value;
  if (object[name].get(value) != simdjson::SUCCESS) return true;
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) {
    out.emplace_back(text);
    return true;
  }
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return false;
  for (element entry : list) {
    if (out.size() == most || entry.get(text) != simdjson::SUCCESS) return false;
    out.emplace_back(text);
  }
  return true;
}

bool read_header(std::string_view json, Jwt& out) {
  simdjson::dom::parser parser;
  element header;
  if (parser.parse(simdjson::padded_string(json)).get(header) != simdjson::SUCCESS) return false;
  return header.is_object() && read_string(header, "alg", out.algorithm) &&
         read_string(header, "kid", out.key_id);
}

bool read_claims(std::string_view json, Jwt& out) {
  simdjson::dom::parser parser;
  element claims;
  if (parser.parse(simdjson::padded_string(json)).get(claims) != simdjson::SUCCESS) return false;
  return claims.is_object() && read_string(claims, "iss", out.issuer) &&
         read_strings(claims, "aud", kMaxAudiences, out.audiences) &&
         read_seconds(claims, "nbf", out.not_before) && read_seconds(claims, "exp", out.expires) &&
         read_string(claims, "oid", out.object_id) && read_string(claims, "tid", out.tenant_id) &&
         read_strings(claims, "groups", kMaxGroups, out.groups);
}
}  // namespace

std::optional<std::string> unbase64url(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    if (c == '+' || c == '/' || c == '=') return {};
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  plain.append((4 - plain.size() % 4) % 4, '=');
  return unbase64(plain);
}

std::optional<Jwt> Jwt::parse(std::string_view token) {
  if (token.size() > kMaxTokenBytes) return {};
  const size_t first = token.find('.');
  const size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos)
    return {};
  const auto header = unbase64url(token.substr(0, first));
  const auto claims = unbase64url(token.substr(first + 1, second - first - 1));
  auto signature = unbase64url(token.substr(second + 1));
  Jwt jwt;
  if (!header || !claims || !signature || !read_header(*header, jwt) || !read_claims(*claims, jwt))
    return {};
  jwt.signed_part = token.substr(0, second);
  jwt.signature = std::move(*signature);
  return jwt;
}

}  // namespace kyanite::auth
