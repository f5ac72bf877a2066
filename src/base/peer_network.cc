#include "base/peer_network.h"

#include <arpa/inet.h>

#include <algorithm>

namespace kyanite {

namespace {
constexpr size_t kNetworkBytes = 8;
}

std::string peer_network(std::string_view address) {
  std::string text(address);
  in6_addr ip{};
  if (inet_pton(AF_INET6, text.c_str(), &ip) != 1) return text;
  std::fill(ip.s6_addr + kNetworkBytes, ip.s6_addr + sizeof ip.s6_addr, uint8_t{0});
  char network[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, &ip, network, sizeof network);
  return std::string(network) + "/64";
}

}  // namespace kyanite
