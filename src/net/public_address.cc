#include "net/public_address.h"

#include <arpa/inet.h>

#include <array>
#include <cstring>

namespace kyanite::net {

namespace {

struct Block4 {
  uint32_t network;
  int bits;
};
constexpr uint32_t ip(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}
// IANA's registry of IPv4 special-purpose addresses, and multicast.
constexpr Block4 kSpecial4[] = {
    {ip(0, 0, 0, 0), 8},      {ip(10, 0, 0, 0), 8},     {ip(100, 64, 0, 0), 10},
    {ip(127, 0, 0, 0), 8},    {ip(169, 254, 0, 0), 16}, {ip(172, 16, 0, 0), 12},
    {ip(192, 0, 0, 0), 24},   {ip(192, 0, 2, 0), 24},   {ip(192, 88, 99, 0), 24},
    {ip(192, 168, 0, 0), 16}, {ip(198, 18, 0, 0), 15},  {ip(198, 51, 100, 0), 24},
    {ip(203, 0, 113, 0), 24}, {ip(224, 0, 0, 0), 4},    {ip(240, 0, 0, 0), 4},
};

bool is_public4(uint32_t address) {
  for (const auto& block : kSpecial4) {
    if ((address ^ block.network) >> (32 - block.bits) == 0) return false;
  }
  return true;
}

using Bytes6 = std::array<uint8_t, 16>;
struct Block6 {
  Bytes6 network;
  int bits;
};
// Of the global unicast addresses, 2000::/3, those that are not: protocol assignments (Teredo among
// them), documentation, and 6to4, which hides an IPv4 address.
constexpr Block6 kSpecial6[] = {
    {{0x20, 0x01, 0x00, 0x00}, 23},
    {{0x20, 0x01, 0x0d, 0xb8}, 32},
    {{0x20, 0x02}, 16},
    {{0x3f, 0xff}, 20},
};
// An IPv4 address in IPv6 clothes: as the kernel maps it, and as NAT64 gateways do.
constexpr Block6 kEmbedding[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96},
    {{0, 0x64, 0xff, 0x9b}, 96},
};

bool is_in(const Bytes6& address, const Block6& block) {
  for (int bit = 0; bit < block.bits; ++bit) {
    const auto at = static_cast<size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if (((address[at] ^ block.network[at]) & mask) != 0) return false;
  }
  return true;
}

bool is_public6(const Bytes6& address) {
  for (const auto& block : kEmbedding) {
    if (is_in(address, block))
      return is_public4(ip(address[12], address[13], address[14], address[15]));
  }
  if (!is_in(address, {{0x20}, 3})) return false;
  for (const auto& block : kSpecial6) {
    if (is_in(address, block)) return false;
  }
  return true;
}

}  // namespace

bool is_public(const Address& address) {
  if (address.storage.ss_family == AF_INET) {
    return is_public4(
        ntohl(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr.s_addr));
  }
  if (address.storage.ss_family != AF_INET6) return false;
  Bytes6 bytes;
  std::memcpy(bytes.data(),
              reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr.s6_addr,
              bytes.size());
  return is_public6(bytes);
}

}  // namespace kyanite::net
