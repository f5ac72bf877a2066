// Absolute http and https URLs, as copies name their sources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kyanite::http {

struct Url {
  bool secure = false;  // https
  std::string host;     // in lower case; an IPv6 address without its brackets
  uint16_t port = 0;    // the scheme's when the URL names none
  std::string path;     // as sent, still percent-encoded; begins with '/'
  std::string query;    // as sent, without the '?'

  // What a Host header says: the host and, unless it is the scheme's own, the port.
  std::string authority() const;
  // Path and query.
  std::string target() const;
  bool same_origin(const Url& other) const {
    return secure == other.secure && host == other.host && port == other.port;
  }
};

// Nothing for other schemes, for URLs with a user or password, and for those with bytes that a URL
// must escape (blanks, control characters). A fragment is dropped.
std::optional<Url> parse_url(std::string_view text);

// Where a Location header leads to from `base`: an absolute URL, or a path on the same host.
std::optional<Url> follow(const Url& base, std::string_view location);

// "host", "host:port", "[address]:port": the two parts, the host in lower case and without
// brackets. A missing port is 0. Nothing when it is malformed.
struct Authority {
  std::string host;
  uint16_t port = 0;
};
std::optional<Authority> parse_authority(std::string_view text);

}  // namespace kyanite::http
