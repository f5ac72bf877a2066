// Holds everything in a data directory against its checksums and against each other: files,
// tables, logs, records, what records refer to, and every run of every extent that one lists. Says
// whose objects are affected by what is wrong. Changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "upkeep/pinned.h"

namespace kyanite::upkeep {

struct Damage {
  std::string object;  // in words: "blob acme/box/a.txt"
  std::string what;    // A clause.
};

struct CheckCounts {
  uint64_t tables = 0;
  uint64_t records = 0;
  uint64_t runs = 0;
  uint64_t bytes = 0;  // of runs
  uint64_t damages = 0;
};

struct CheckOptions {
  std::vector<std::string> accounts;  // whose names are known
  uint64_t bytes_per_second = 0;      // read at most; 0: as fast as it goes
  std::function<void(const Damage&)> damage;
  std::function<void(const CheckCounts&)> progress;  // often
};

CheckCounts check(const Pinned& pinned, const CheckOptions& options);

}  // namespace kyanite::upkeep
