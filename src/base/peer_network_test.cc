#include "base/peer_network.h"

#include <gtest/gtest.h>

namespace kyanite {
namespace {

TEST(PeerNetwork, OnePeerIsAnAddressOrAnIpv6Network) {
  EXPECT_EQ(peer_network("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(peer_network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(peer_network("2001:db8:1:2::1"), "2001:db8:1:2::/64");
  EXPECT_NE(peer_network("2001:db8:1:3::1"), peer_network("2001:db8:1:2::1"));
  EXPECT_EQ(peer_network("::1"), "::/64");
  EXPECT_EQ(peer_network("no address"), "no address");
}

}  // namespace
}  // namespace kyanite
