// Extent files open for reading, the most recently used ones. Those who read may keep more open,
// up to as many again: beyond that crowded() asks them not to.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
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
  // More files are open than this may keep: nobody should keep another one beyond a call.
  bool crowded() const { return open_->load(std::memory_order_relaxed) > 2 * most_; }

 private:
  using Used = std::list<std::shared_ptr<ExtentFile>>;  // Most recently used first.

  const std::string directory_;
  const size_t most_;
  // How many there are, here and with readers, who may outlive this.
  const std::shared_ptr<std::atomic<size_t>> open_ = std::make_shared<std::atomic<size_t>>(0);
  Mutex mutex_;
  Used used_ GUARDED_BY(mutex_);
  std::unordered_map<ExtentId, Used::iterator> by_id_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::engine
