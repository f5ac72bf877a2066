// Which bytes of a sparse content were ever written, and where two contents differ.
#pragma once

#include <cstdint>
#include <vector>

#include "content/cleared.h"
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
// The same behind what is there already.
void add_written(const Pieces& pieces, ByteRuns& runs);
// Where the two were not written by the same request, within [offset, offset + count). What is
// known to be `cleared` in between counts even where there was nothing.
Task<store::Result<ByteRuns>> difference(store::Store& store, const Pieces& before,
                                         const Pieces& after, uint64_t offset, uint64_t count,
                                         ClearedRuns cleared = {});

}  // namespace kyanite::content
