// How many files the engine has open at a time, and what for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kyanite::engine {

// Of so many descriptors that the process may have, how many the engine needs for itself. Nobody
// else may take these: without them it can neither write nor read.
uint64_t reserved_descriptors(uint64_t limit);

// Of so many descriptors that the engine has.
struct DescriptorShares {
  size_t tables = 0;
  size_t extents = 0;  // Readers may keep as many again open for a while.
};
DescriptorShares share_descriptors(uint64_t descriptors);

}  // namespace kyanite::engine
