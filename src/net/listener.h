// Listening sockets: from a host name and a port to one socket for each event loop.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/socket.h"

namespace kyanite::net {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }
  uint16_t port() const;
  void set_port(uint16_t port);
  std::string host() const;  // Numeric; an IPv4 address in IPv6 clothes comes as IPv4.
  std::string text() const;  // "127.0.0.1:10000", "[::1]:10000"
};

// Every address that the name has on this machine; a numeric host is itself.
Result<std::vector<Address>, std::string> resolve(const std::string& host, uint16_t port);

// The same for a numeric host, at once; nothing when it is a name.
std::optional<std::vector<Address>> resolve_numeric(const std::string& host, uint16_t port);

struct ListenError {
  int code = 0;  // errno
  std::string what;
};
// `count` sockets that share the address, among which the kernel spreads connections. A port 0 is
// replaced in `address` by the one chosen. Fails when anyone else listens there.
Result<std::vector<Descriptor>, ListenError> listen_on(Address& address, int count);

}  // namespace kyanite::net
