// How many connections of each kind there may be, so that all of them together leave the engine the
// descriptors that it needs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kyanite::server {

struct ConnectionLimits {
  size_t connections;  // Of all services together.
  size_t admin;        // Of the admin listener, apart from those.
  size_t fetches;      // To other servers, for copies.
};

// `descriptors`: how many the process may have. `engine`: how many of them are the engine's.
ConnectionLimits connection_limits(uint64_t descriptors, uint64_t engine, int threads);

}  // namespace kyanite::server
