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
  uint64_t format = 0;  // As found; the newest where the directory is new.
  std::shared_ptr<const os::File> lock;
  std::string records() const { return path + "/records"; }
  std::string extents() const { return path + "/extents"; }
  // What engine/pin.h makes.
  std::string pinned() const { return path + "/pinned"; }
};

// The file in which it knows the backups that it has gone on from.
inline constexpr const char* kBackupsName = "BACKUPS";
// From this format on there is a file IDENTITY.
inline constexpr uint64_t kIdentityFormat = 2;

// Makes the directory on first use, not what is in it. The error is one sentence for the person who
// started the server.
Result<Location, std::string> open_location(const std::string& path);
// The same for looking at a directory, in which nothing is changed or made: an error where there is
// none. Without a lock when another process uses it.
Result<Location, std::string> visit_location(const std::string& path);
// Whether the directory has things in it that are neither ours nor Azurite's data.
bool is_shared(const std::string& path);
// The newest format that this version knows.
uint64_t newest_format();
// The directory is of the newest format now.
Result<void, std::string> raise_format(Location& location);

}  // namespace kyanite::engine
