#include "http/url.h"

#include "base/bytes.h"

namespace kyanite::http {

namespace {

uint16_t usual_port(bool secure) { return secure ? 443 : 80; }

// Bytes that never stand in a URL as they are. Those from 0x80 are let through: clients send names
// unescaped.
bool has_unescaped(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || c == '"' || c == '<' || c == '>' || c == '\\') return true;
  }
  return false;
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

bool is_address_char(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' ||
         c == '.';
}

template <class Allowed>
bool all(std::string_view text, Allowed allowed) {
  for (const char c : text) {
    if (!allowed(c)) return false;
  }
  return !text.empty();
}

}  // namespace

std::optional<Authority> parse_authority(std::string_view text) {
  Authority authority;
  std::string_view port;
  if (!text.empty() && text.front() == '[') {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return {};
    const std::string_view address = text.substr(1, close - 1);
    if (!all(address, is_address_char)) return {};
    authority.host = ascii_lower(address);
    port = text.substr(close + 1);
  } else {
    const size_t colon = text.find(':');
    const std::string_view host = text.substr(0, colon);
    if (!all(host, is_name_char)) return {};
    authority.host = ascii_lower(host);
    port = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  if (port.empty()) return authority;
  if (port.front() != ':') return {};
  port.remove_prefix(1);
  if (port.empty()) return authority;  // RFC 3986 allows "host:".
  const auto number = parse_uint(port);
  if (!number || *number == 0 || *number > UINT16_MAX) return {};
  authority.port = static_cast<uint16_t>(*number);
  return authority;
}

std::optional<Url> parse_url(std::string_view text) {
  if (has_unescaped(text)) return {};
  Url url;
  const size_t colon = text.find("://");
  if (colon == std::string_view::npos) return {};
  const std::string_view scheme = text.substr(0, colon);
  url.secure = equals_ignoring_case(scheme, "https");
  if (!url.secure && !equals_ignoring_case(scheme, "http")) return {};
  text.remove_prefix(colon + 3);
  text = text.substr(0, text.find('#'));
  const size_t end = text.find_first_of("/?");
  auto authority = parse_authority(text.substr(0, end));
  if (!authority) return {};
  url.host = std::move(authority->host);
  url.port = authority->port == 0 ? usual_port(url.secure) : authority->port;
  const std::string_view rest = end == std::string_view::npos ? "" : text.substr(end);
  const size_t mark = rest.find('?');
  url.path = rest.substr(0, mark);
  if (url.path.empty()) url.path = "/";
  if (mark != std::string_view::npos) url.query = rest.substr(mark + 1);
  return url;
}

std::optional<Url> follow(const Url& base, std::string_view location) {
  if (location.substr(0, 2) == "//") {
    return parse_url((base.secure ? "https:" : "http:") + std::string(location));
  }
  if (!location.empty() && location.front() == '/') {
    return parse_url((base.secure ? "https://" : "http://") + base.authority() +
                     std::string(location));
  }
  return parse_url(location);
}

std::string Url::authority() const {
  std::string text = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != usual_port(secure)) {
    text += ':';
    append_uint(text, port);
  }
  return text;
}

std::string Url::target() const { return query.empty() ? path : path + "?" + query; }

}  // namespace kyanite::http
