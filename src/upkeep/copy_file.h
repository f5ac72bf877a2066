// Files part by part, with their checksum.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "os/file.h"
#include "upkeep/pace.h"

namespace kyanite::upkeep {

// A checksum is made of those of such parts; the last one may be shorter.
inline constexpr size_t kPartBytes = 1 << 20;

struct Copied {
  uint64_t bytes = 0;
  uint32_t crc32c = 0;
};

// That of a whole from its parts: docs/formats/backup.md.
class PartSum {
 public:
  void add(std::string_view part);
  Copied get();

 private:
  void fold();

  uint64_t bytes_ = 0;
  std::string parts_;
  uint32_t read_ = 0;
};

using TakePart = std::function<Result<void, std::string>(std::string_view part, uint64_t offset)>;
// Shows a file part by part. The error is a clause.
Result<Copied, std::string> read_parts(const std::string& path, Pace& pace, const TakePart& take);

// A file that is written part by part. Stretches of zeros become holes.
class PartWriter {
 public:
  // Makes the file, or empties it first.
  static Result<PartWriter, std::string> open(const std::string& path);
  Result<void, std::string> write(std::string_view part, uint64_t offset);
  // It is durable on return; its name is once its directory is synced.
  Result<void, std::string> finish(uint64_t bytes);

 private:
  explicit PartWriter(std::shared_ptr<const os::File> file) : file_(std::move(file)) {}

  std::shared_ptr<const os::File> file_;
};

}  // namespace kyanite::upkeep
