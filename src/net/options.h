// What an operator or a test may set about connections. Every wait on a peer ends by one of these
// times.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace kyanite::net {

struct Timeouts {
  std::chrono::milliseconds handshake{10'000};  // A TLS handshake from accept to end.
  std::chrono::milliseconds idle{120'000};      // Between two requests of a kept connection.
  std::chrono::milliseconds head{30'000};  // From a request's first byte to the end of its head.
  // For a request body that is awaited and for a reply being taken: how long without one byte, and
  // how much longer with fewer bytes than `least_rate` (patience.h).
  std::chrono::milliseconds body{60'000};
  std::chrono::milliseconds send{60'000};
  uint64_t least_rate = 512;                // bytes a second
  std::chrono::milliseconds linger{5'000};  // After a reply that closes, for the peer to read it.
  // A request that has waited this long for its peer may have to yield to others.
  std::chrono::milliseconds stall{1'000};
};

struct Options {
  int threads = 0;  // Event loops; 0: one for each CPU this process may use.
  // Over all listeners but those that have an allowance of their own. When there are as many, a
  // newcomer takes the place of one that rests (peers.h); where nobody can yield it is answered 503
  // and closed.
  size_t max_connections = 16'384;
  Timeouts timeouts;
};

}  // namespace kyanite::net
