// The directory that holds everything: recognised by its FORMAT file, owned by one process at a
// time.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "os/file.h"

namespace kyanite::engine {

// The lock that keeps other processes out lasts as long as this.
struct Location {
  std::string path;
  std::shared_ptr<const os::File> lock;
  std::string records() const { return path + "/records"; }
  std::string extents() const { return path + "/extents"; }
};

// Makes the directory on first use. The error is one sentence for the person who started the
// server.
Result<Location, std::string> open_location(const std::string& path);

}  // namespace kyanite::engine
