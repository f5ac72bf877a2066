// Copies of files with their checksum, durable on return.
#pragma once

#include <cstdint>
#include <string>

#include "os/file.h"
#include "upkeep/pace.h"

namespace kyanite::upkeep {

struct Copied {
  uint64_t bytes = 0;
  uint32_t crc32c = 0;
};

// Makes `to`, or empties it first. Stretches of zeros become holes. The name is durable once its
// directory is synced.
os::Result<Copied> copy_file(const std::string& from, const std::string& to, Pace& pace);

// The same of a file as it is.
os::Result<Copied> sum_file(const std::string& path, Pace& pace);

}  // namespace kyanite::upkeep
