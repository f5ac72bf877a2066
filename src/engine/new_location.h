// A data directory that a command makes and fills, restored or brought over: empty at first and
// locked, and known for unfinished by a file in it until it is whole. No server starts on it before
// that, and the same command begins anew.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "os/file.h"

namespace kyanite::engine {

// The names of that file.
inline constexpr const char* kRestoring = "RESTORING";
inline constexpr const char* kImporting = "IMPORTING";

class NewLocation {
 public:
  // Makes the directory. What an earlier try has left in it is removed. The error is a clause.
  static Result<NewLocation, std::string> begin(const std::string& path, const char* unfinished);
  // It is whole, or empty again. Durable. The lock is kept.
  Result<void, std::string> finish();

 private:
  NewLocation(std::string path, const char* unfinished, std::shared_ptr<const os::File> lock)
      : path_(std::move(path)), unfinished_(unfinished), lock_(std::move(lock)) {}

  std::string path_;
  const char* unfinished_;
  std::shared_ptr<const os::File> lock_;
};

}  // namespace kyanite::engine
