// Which addresses a client may make this server connect to.
#pragma once

#include "net/listener.h"

namespace kyanite::net {

// Whether the address belongs to the public Internet: not this host, not a private or link-local
// network, not multicast, not reserved, and no IPv6 form of such an IPv4 address.
bool is_public(const Address& address);

}  // namespace kyanite::net
