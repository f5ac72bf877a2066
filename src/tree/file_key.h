// What a file or directory is called by whoever does not care where it lies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "store/key.h"

namespace kyanite::tree {

// A file or directory of a share. Ids are never used twice within a share, so a key that outlives
// its file meets nothing.
struct FileKey {
  store::SpaceId share = 0;
  uint64_t id = 0;
  bool operator==(const FileKey&) const = default;
};

// One open of one of them, as the open-file table counts them; never 0.
using HandleId = uint64_t;

struct FileKeyHash {
  size_t operator()(const FileKey& key) const {
    // Ids are random, spaces and the ids of roots are not.
    return (key.share * 0x9E3779B97F4A7C15u ^ key.id) * 0xD6E8FEB86659FD93u;
  }
};

}  // namespace kyanite::tree
