// Brings a data directory of Azurite's into a new data directory: containers and blobs with their
// snapshots and blocks, queues with their messages, tables with their entities, with their times.
// ETags become ours. Azurite must not be running.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace kyanite::import {

struct Imported {
  uint64_t containers = 0;
  uint64_t blobs = 0;   // snapshots among them
  uint64_t blocks = 0;  // not committed
  uint64_t bytes = 0;
  uint64_t queues = 0;
  uint64_t messages = 0;
  uint64_t tables = 0;
  uint64_t entities = 0;
};

// `to` does not exist or is empty; it exists only if all went well. The error is a sentence.
Result<Imported, std::string> import_azurite(const std::string& from, const std::string& to);

}  // namespace kyanite::import
