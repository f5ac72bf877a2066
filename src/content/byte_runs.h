// Which bytes of a sparse content were ever written, and where two contents differ.
#pragma once

#include <cstdint>
#include <vector>

#include "content/content.h"

namespace kyanite::content {

struct ByteRun {
  uint64_t start = 0;
  uint64_t end = 0;    // exclusive
  bool clear = false;  // of a difference: has become zeros
};
using ByteRuns = std::vector<ByteRun>;

// Pieces as load() gives them: ascending, without zeros.
ByteRuns written(const Pieces& pieces);
// Where the two differ within [offset, offset + count). Runs of the store are never changed, so the
// same part of the same run is the same bytes.
ByteRuns difference(const Pieces& before, const Pieces& after, uint64_t offset, uint64_t count);

}  // namespace kyanite::content
