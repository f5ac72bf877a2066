#include "service/endpoints.h"

#include <optional>
#include <utility>

#include "service/service.h"
#include "wire/service.h"

namespace kyanite::service {

namespace {

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1" ||
         host.ends_with(".localhost");
}

// Listening there includes the loopback addresses.
bool covers_loopback(std::string_view listening) {
  return listening == "0.0.0.0" || listening == "::" || is_loopback_name(listening);
}

bool is_account(std::string_view label, const auth::Accounts& accounts) {
  constexpr std::string_view kSecondary = "-secondary";
  if (label.ends_with(kSecondary)) label.remove_suffix(kSecondary.size());
  return accounts.find(label) != nullptr;
}

// account.blob.example and other.blob.example, where the first is an account of this server.
bool is_sibling(std::string_view host, std::string_view other, const auth::Accounts& accounts) {
  const size_t dot = host.find('.');
  const size_t other_dot = other.find('.');
  if (dot == std::string_view::npos || other_dot == std::string_view::npos) return false;
  return host.substr(dot) == other.substr(other_dot) && is_account(host.substr(0, dot), accounts);
}

// The account of "account.blob.core.windows.net" and its like where it is one of this server, with
// the name of its service.
std::optional<std::string_view> public_service(std::string_view host,
                                               const auth::Accounts& accounts) {
  constexpr std::string_view kPublic = ".core.windows.net";
  if (!host.ends_with(kPublic)) return {};
  host.remove_suffix(kPublic.size());
  const size_t dot = host.find('.');
  if (dot == std::string_view::npos || !is_account(host.substr(0, dot), accounts)) return {};
  return host.substr(dot + 1);
}

}  // namespace

void Endpoints::add(const Service& service, std::string host, uint16_t port) {
  endpoints_.push_back({&service, std::move(host), port});
}

const Service* Endpoints::find(const http::Url& url, const Service& own, std::string_view asked,
                               bool asked_secure, const auth::Accounts& accounts) const {
  auto here = http::parse_authority(asked);
  if (here && here->port == 0) here->port = asked_secure ? 443 : 80;
  if (here && here->host == url.host && here->port == url.port) return &own;
  if (here && here->port == url.port && is_sibling(url.host, here->host, accounts)) return &own;
  const auto name =
      url.port == 443 || url.port == 80 ? public_service(url.host, accounts) : std::nullopt;
  if (name) {
    for (const auto& endpoint : endpoints_) {
      if (wire::name(endpoint.service->kind()) == *name) return endpoint.service;
    }
    return nullptr;
  }
  for (const auto& endpoint : endpoints_) {
    if (endpoint.port != url.port) continue;
    if (url.host == endpoint.host || (here && url.host == here->host) ||
        (is_loopback_name(url.host) && covers_loopback(endpoint.host))) {
      return endpoint.service;
    }
  }
  return nullptr;
}

}  // namespace kyanite::service
