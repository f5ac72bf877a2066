#include "engine/descriptors.h"

#include <algorithm>

namespace kyanite::engine {

namespace {
// For logs, manifests, extents being written, directories, and files open for one call.
constexpr uint64_t kOther = 64;
constexpr uint64_t kMostReserved = 1024 + kOther;
constexpr uint64_t kLeastReserved = 128;
}  // namespace

uint64_t reserved_descriptors(uint64_t limit) {
  return std::clamp(limit / 2, kLeastReserved, kMostReserved);
}

DescriptorShares share_descriptors(uint64_t descriptors) {
  const size_t files = std::max(descriptors, kLeastReserved) - kOther;
  return {files / 2, files / 4};
}

}  // namespace kyanite::engine
