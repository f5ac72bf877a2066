// JSON web tokens in their compact form: header.claims.signature, each base64url.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite::auth {

// Longer tokens are refused unread, and those with more audiences or groups. Tokens of Microsoft
// Entra have one audience and at most 200 groups, and stay below 8 KiB.
inline constexpr size_t kMaxTokenBytes = 16 * 1024;
inline constexpr size_t kMaxAudiences = 16;
inline constexpr size_t kMaxGroups = 400;

struct Jwt {
  std::string algorithm;
  std::string key_id;
  std::string issuer;
  std::vector<std::string> audiences;
  std::optional<int64_t> not_before;  // Unix seconds
  std::optional<int64_t> expires;     // Unix seconds
  std::string object_id;
  std::string tenant_id;
  std::vector<std::string> groups;  // object ids of those the user is in
  std::string_view signed_part;     // header and claims as sent; points into the token
  std::string signature;            // decoded

  // Nothing when the token is not of the form, or a claim above has the wrong type. Says nothing
  // about its truth.
  static std::optional<Jwt> parse(std::string_view token);
};

// Without padding.
std::optional<std::string> unbase64url(std::string_view text);

}  // namespace kyanite::auth
