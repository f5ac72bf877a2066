// Extent files open for reading, at most so many at a time.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "engine/extent_file.h"

namespace kyanite::engine {

class OpenExtents {
 public:
  OpenExtents(std::string directory, size_t most);

  // Null unless it is open already.
  std::shared_ptr<ExtentFile> find(ExtentId id);
  // Opens the file when it is not. May wait for the device.
  os::Result<std::shared_ptr<ExtentFile>> open(ExtentId id);
  std::shared_ptr<ExtentFile> add(ExtentId id, std::shared_ptr<const os::File> file);
  // Readers that have the file keep it; nobody gets it from here again.
  void forget(ExtentId id);

 private:
  using Used = std::list<std::shared_ptr<ExtentFile>>;  // Most recently used first.

  const std::string directory_;
  const size_t most_;
  std::mutex mutex_;
  Used used_;
  std::unordered_map<ExtentId, Used::iterator> by_id_;
};

}  // namespace kyanite::engine
