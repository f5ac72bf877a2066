#include "net/listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace kyanite::net {

namespace {
void enable(const Descriptor& socket, int level, int option, int value = 1) {
  // Each of these works without; none is worth refusing to start for.
  [[maybe_unused]] const int ignored =
      setsockopt(socket.number(), level, option, &value, sizeof value);
}

ListenError listen_error(const Address& address) {
  const int code = errno;
  std::string what = "cannot listen on " + address.text() + ": ";
  what += code == EADDRINUSE ? "the port is in use by another process" : std::strerror(code);
  return {code, std::move(what)};
}

bool is_any_ipv6(const Address& address) {
  return address.storage.ss_family == AF_INET6 &&
         IN6_IS_ADDR_UNSPECIFIED(
             &reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr);
}
}  // namespace

uint16_t Address::port() const {
  return ntohs(storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

void Address::set_port(uint16_t port) {
  if (storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(&storage)->sin_port = htons(port);
  }
}

std::string Address::host() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET6) {
    const in6_addr& ip = reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&ip)) {
      inet_ntop(AF_INET, ip.s6_addr + 12, text, sizeof text);
    } else {
      inet_ntop(AF_INET6, &ip, text, sizeof text);
    }
  } else {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr, text,
              sizeof text);
  }
  return text;
}

std::string Address::text() const {
  const std::string ip = host();
  const bool brackets = ip.find(':') != std::string::npos;
  return (brackets ? "[" + ip + "]" : ip) + ":" + std::to_string(port());
}

namespace {
Result<std::vector<Address>, std::string> resolve_with(const std::string& host, uint16_t port,
                                                       int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | flags;
  addrinfo* raw = nullptr;
  const int failed = getaddrinfo(host.c_str(), nullptr, &hints, &raw);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> found(raw, freeaddrinfo);
  if (failed != 0) return "cannot resolve " + host + ": " + gai_strerror(failed);
  std::vector<Address> addresses;
  for (const addrinfo* entry = found.get(); entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    Address address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.length = entry->ai_addrlen;
    address.set_port(port);
    bool repeated = false;
    for (const Address& other : addresses) repeated |= other.text() == address.text();
    if (!repeated) addresses.push_back(address);
  }
  if (addresses.empty()) return "cannot resolve " + host + ": no IP address";
  return addresses;
}
}  // namespace

Result<std::vector<Address>, std::string> resolve(const std::string& host, uint16_t port) {
  return resolve_with(host, port, 0);
}

std::optional<std::vector<Address>> resolve_numeric(const std::string& host, uint16_t port) {
  auto addresses = resolve_with(host, port, AI_NUMERICHOST);
  if (!addresses) return {};
  return std::move(*addresses);
}

Result<std::vector<Descriptor>, ListenError> listen_on(Address& address, int count) {
  std::vector<Descriptor> sockets;
  for (int i = 0; i < count; ++i) {
    Descriptor socket(
        ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.number() < 0) return listen_error(address);
    enable(socket, SOL_SOCKET, SO_REUSEADDR);
    enable(socket, IPPROTO_TCP, TCP_NODELAY);  // Accepted sockets inherit it.
    if (address.storage.ss_family == AF_INET6) {
      enable(socket, IPPROTO_IPV6, IPV6_V6ONLY, is_any_ipv6(address) ? 0 : 1);
    }
    // With SO_REUSEPORT a second process of the same user would be let in silently and take half
    // the connections. The first socket binds without it, which fails when anyone is there, and
    // allows sharing only afterwards.
    if (i > 0) enable(socket, SOL_SOCKET, SO_REUSEPORT);
    if (bind(socket.number(), address.raw(), address.length) != 0) return listen_error(address);
    if (i == 0) enable(socket, SOL_SOCKET, SO_REUSEPORT);
    if (listen(socket.number(), SOMAXCONN) != 0) return listen_error(address);
    socklen_t length = sizeof address.storage;
    if (getsockname(socket.number(), address.raw(), &length) != 0) return listen_error(address);
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

}  // namespace kyanite::net
