// Blocks: the parts a block blob is uploaded in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "blob/place.h"
#include "content/content.h"
#include "headers/lease.h"
#include "store/key.h"
#include "store/store.h"

namespace kyanite::blob {

inline constexpr size_t kMaxBlockIdBytes = 64;
inline constexpr size_t kMaxCommittedBlocks = 50'000;
inline constexpr size_t kMaxUncommittedBlocks = 100'000;
inline constexpr int64_t kUncommittedLifeSeconds = 7 * 24 * 3600;

// The row of the record that says that a blob may have uncommitted blocks; no block id is empty.
inline constexpr std::string_view kBlocksMark = "";

// What that record holds: ids of one blob's uncommitted blocks have one length, and a blob can be
// leased before there is more of it than blocks.
//
// Blocks are staged side by side and leave the mark as it is, so whoever removes those it has found
// cannot know that there are no others. Hence the mark stays, as spent, and the next block to be
// staged changes it. Only a spent mark that has no blocks is removed, by a job: whoever stages
// a block meanwhile has changed it.
struct BlocksMark {
  uint64_t id_bytes = 0;
  headers::StoredLease lease = {};
  uint64_t spent = 0;  // Not 0: spent. No two times have the same number.
  template <class Io>
  void fields(Io& io) {
    io(1, id_bytes);
    io(2, lease);
    io(3, spent);
  }
};

// The mark to leave behind where blocks go.
store::RecordPtr spent_mark(uint64_t id_bytes);
// Whether the bytes of a key are those of a mark.
bool is_blocks_mark(std::string_view key);

// An uncommitted block.
struct Block {
  Time staged;
  uint64_t size = 0;
  std::string pieces;      // encoded; its runs are the record's refs
  std::string key_sha256;  // of the customer's key it is encrypted with
  template <class Io>
  void fields(Io& io) {
    io(1, staged);
    io(2, size);
    io(3, pieces);
    io(4, key_sha256);
  }
};

// The committed blocks of one content, in order: decoded id and size.
struct BlockList {
  std::vector<std::pair<std::string, uint64_t>> blocks;
  template <class Io>
  void fields(Io& io) {
    io(1, blocks);
  }
};

// A block as a record, and its pieces back.
store::RecordPtr to_record(const Block& block, const content::Pieces& pieces);
std::optional<content::Pieces> pieces_of(const Block& block, const store::Record& record);

store::Key block_key(const Place& place, std::string_view block_id);
// All uncommitted blocks of a blob, and their mark.
store::Range block_rows(const Place& place);
store::Key block_list_key(const content::Place& place, uint64_t content_id);

}  // namespace kyanite::blob
