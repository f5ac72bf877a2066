// How leaves are keyed; for the files of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "content/content.h"

namespace kyanite::content {

inline store::Key leaf_key(const Place& place, uint64_t content_id, uint64_t offset) {
  std::string row;
  append_be64(row, content_id);
  append_be64(row, offset);
  return store::Key(place.space, kContentFamily, place.partition, row);
}

inline store::Range leaf_range(const Place& place, uint64_t content_id) {
  std::string row;
  append_be64(row, content_id);
  return store::Range::rows(place.space, kContentFamily, place.partition, row);
}

// The offset at the end of a leaf's key.
inline uint64_t leaf_offset(std::string_view key) { return read_be64(key.data() + key.size() - 8); }

// The leaves that hold bytes of [offset, offset + length), in order; kConflict unless the head is
// as expected.
store::Result<std::vector<store::RecordPtr>> find_leaves(const store::View& view,
                                                         const Place& place, const Content& content,
                                                         uint64_t offset, uint64_t length,
                                                         const store::Guard& head);

}  // namespace kyanite::content
