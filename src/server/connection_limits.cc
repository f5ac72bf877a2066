#include "server/connection_limits.h"

#include <algorithm>

namespace kyanite::server {

namespace {
// Where there are descriptors enough.
constexpr uint64_t kMostConnections = 16'384;
constexpr uint64_t kMostAdmin = 64;
constexpr uint64_t kMostFetches = 256;
// Standard streams, the log, files that are read at start or looked at for metrics, name lookups.
constexpr uint64_t kOtherDescriptors = 48;
// Event loop, wake-up, a socket for each of seven listeners, and a connection about to be refused.
constexpr uint64_t kDescriptorsPerThread = 10;
// With few descriptors the smaller kinds get one part in so many each.
constexpr uint64_t kSmallPart = 8;
}  // namespace

ConnectionLimits connection_limits(uint64_t descriptors, uint64_t engine, int threads) {
  const uint64_t taken =
      engine + kOtherDescriptors + kDescriptorsPerThread * static_cast<uint64_t>(threads);
  const uint64_t left = std::max(descriptors, taken + kSmallPart) - taken;
  const uint64_t admin = std::min(kMostAdmin, left / kSmallPart);
  const uint64_t fetches = std::min(kMostFetches, left / kSmallPart);
  return {std::min(kMostConnections, left - admin - fetches), admin, fetches};
}

}  // namespace kyanite::server
