// Reads runs of extents and holds them against their checksums.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/buffer.h"
#include "os/file.h"
#include "store/store.h"
#include "upkeep/pace.h"

namespace kyanite::upkeep {

class Runs {
 public:
  Runs(std::string extents, Pace& pace) : extents_(std::move(extents)), pace_(pace) {}

  // What is wrong with the run, in a clause; nothing when it is as it was written.
  std::optional<std::string> problem(const store::Ref& ref);
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kMostOpen = 64;
  os::Result<std::shared_ptr<const os::File>> open(uint64_t extent);

  const std::string extents_;
  Pace& pace_;
  std::map<uint64_t, std::shared_ptr<const os::File>> open_;
  Buffer buffer_{store::kMaxRunBytes};
  uint64_t bytes_ = 0;
};

}  // namespace kyanite::upkeep
