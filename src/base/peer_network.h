// Who counts as one peer where many share something: an IPv4 address, or an IPv6 network of 64
// bits, as whoever has one such address has all of them.
#pragma once

#include <string>
#include <string_view>

namespace kyanite {

// Of a numeric address; any other text stands for itself.
std::string peer_network(std::string_view address);

}  // namespace kyanite
