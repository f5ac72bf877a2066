#include "net/public_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string_view>

namespace kyanite::net {
namespace {

Address address_of(std::string_view text) {
  const auto resolved = resolve(std::string(text), 80);
  EXPECT_TRUE(resolved.ok()) << text;
  return resolved ? resolved->front() : Address();
}

TEST(PublicAddress, IsNotThisHostNorAnyPrivateNetwork) {
  for (const std::string_view text :
       {"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.127.255.255",
        "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255",
        "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255",
        "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255",
        // Spellings of 127.0.0.1 that resolvers know.
        "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "::", "::1", "::7f00:1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "100::1",
        "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "fc00::1", "fdff::1", "fe80::1",
        "febf::1", "fec0::1", "ff02::1", "4000::1"}) {
    EXPECT_FALSE(is_public(address_of(text))) << text;
  }
}

TEST(PublicAddress, IsAnyOther) {
  for (const std::string_view text :
       {"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0",
        "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1",
        "64:ff9b::1.1.1.1"}) {
    EXPECT_TRUE(is_public(address_of(text))) << text;
  }
}

}  // namespace
}  // namespace kyanite::net
