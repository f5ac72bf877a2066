// What tells a file from what it was before, without reading it.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace kyanite::server {

// Links are followed, so that a link to another file is a change. A file that is not there has a
// stamp, too.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t bytes = -1;
  int64_t modified_s = 0;
  int64_t modified_ns = 0;
  // Who may read it: what could not be read can be when this has changed.
  uint32_t mode = 0;
  uint32_t owner = 0;
  uint32_t group = 0;

  static FileStamp of(const std::string& path) {
    struct stat found {};
    if (stat(path.c_str(), &found) != 0) return {};
    return {found.st_dev,          found.st_ino,  found.st_size, found.st_mtim.tv_sec,
            found.st_mtim.tv_nsec, found.st_mode, found.st_uid,  found.st_gid};
  }
  bool operator==(const FileStamp&) const = default;
};

}  // namespace kyanite::server
