// How leaves are keyed, made and found; for the files of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "content/content.h"

namespace kyanite::content {

// The mark is where a leaf of built content ends and where one of sparse content begins.
inline store::Key leaf_key(const Place& place, uint64_t content_id, uint64_t mark) {
  std::string row;
  append_be64(row, content_id);
  append_be64(row, mark);
  return store::Key(place.space, kContentFamily, place.partition, row);
}

inline store::Range leaf_range(const Place& place, uint64_t content_id) {
  std::string row;
  append_be64(row, content_id);
  return store::Range::rows(place.space, kContentFamily, place.partition, row);
}

// The key of the leaf of built content that has just one.
inline store::Key only_leaf_key(const Place& place, const Content& content) {
  return leaf_key(place, content.id, content.length);
}

inline uint64_t leaf_mark(std::string_view key) { return read_be64(key.data() + key.size() - 8); }

uint64_t new_content_id();

store::RecordPtr to_leaf(const Pieces& pieces);

// How many leaves a content may have.
uint64_t most_leaves(const Content& content);

// Shows leaves from a mark on, over one snapshot, until `see` has seen enough. `most` is how many
// there may be.
Task<store::Result<void>> see_leaves(store::Store& store, const Place& place, uint64_t content_id,
                                     uint64_t first, uint64_t most, const store::See& see,
                                     Deadline deadline);

// Whether the head that was found is the one expected.
inline bool is_expected(const store::RecordPtr& found, const store::Guard& head) {
  if (found == nullptr || head.expected == nullptr) return false;
  return found == head.expected || *found == *head.expected;
}

// The leaves that hold bytes of [offset, offset + length), in order, or a portion of them;
// kConflict unless the head is as expected.
Task<store::Result<std::vector<store::RecordPtr>>> find_leaves(store::Store& store, Place place,
                                                               Content content, uint64_t offset,
                                                               uint64_t length, store::Guard head,
                                                               Deadline deadline,
                                                               Portion* portion = nullptr);

}  // namespace kyanite::content
