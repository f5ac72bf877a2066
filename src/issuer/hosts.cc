#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "issuer/authority.h"

namespace kyanite::issuer {

namespace {

constexpr size_t kMostHosts = 100;

void add(std::vector<std::string>& hosts, const std::string& host) {
  const bool known = std::find(hosts.begin(), hosts.end(), host) != hosts.end();
  if (!known && is_certificate_host(host) && hosts.size() < kMostHosts) hosts.push_back(host);
}

std::string numeric(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  } else {
    return {};
  }
  const char* written = inet_ntop(address->sa_family, bytes, text.data(), text.size());
  return written != nullptr ? written : "";
}

}  // namespace

bool is_certificate_host(std::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_:*").find(c) != std::string_view::npos;
  });
}

std::vector<std::string> certificate_hosts(const std::vector<std::string>& given,
                                           const std::vector<std::string>& machine) {
  std::vector<std::string> hosts = {"localhost", "127.0.0.1", "::1"};
  // Clients take no star right below a top-level name, so each service has its own.
  for (const char* service : {"blob", "queue", "table", "file", "dfs", "web"})
    hosts.push_back(std::string("*.") + service + ".localhost");
  for (const std::string& host : given) {
    if (host == "0.0.0.0" || host == "::") {
      for (const std::string& each : machine) add(hosts, each);
    } else {
      add(hosts, host);
    }
  }
  return hosts;
}

std::vector<std::string> machine_hosts() {
  std::vector<std::string> hosts;
  std::array<char, 256> host_name{};
  if (gethostname(host_name.data(), host_name.size() - 1) == 0 && host_name[0] != '\0')
    hosts.emplace_back(host_name.data());
  ifaddrs* interfaces = nullptr;
  if (getifaddrs(&interfaces) != 0) return hosts;
  for (const ifaddrs* each = interfaces; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const std::string address = numeric(each->ifa_addr);
    if (!address.empty()) add(hosts, address);
  }
  freeifaddrs(interfaces);
  return hosts;
}

}  // namespace kyanite::issuer
