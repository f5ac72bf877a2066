// The bytes of a blob or file: an ordered list of pieces, each a part of an extent run or a few
// bytes held inline.
//
// Whole lists are built by a Writer while a body arrives, kept with the uncommitted block or
// committed as leaves: records of up to kPiecesPerLeaf pieces in the family kContentFamily, row =
// content id | offset of the first byte (both big endian). Leaves are never changed: new content
// gets a new id and the head record names it. A reader that has fetched its leaves therefore
// streams one version whatever is written meanwhile, and copies share refs instead of bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/result.h"
#include "base/task.h"
#include "store/store.h"

namespace kyanite::content {

// Contents up to this size lie in the record itself, so that a small write costs one sync.
inline constexpr size_t kInlineBytes = 8 * 1024;
inline constexpr size_t kPiecesPerLeaf = 128;
inline constexpr store::Family kContentFamily = 'C';

struct Piece {
  uint64_t offset = 0;  // within the content
  uint32_t length = 0;
  std::optional<store::Ref> ref;  // Set: bytes `skip .. skip + length` of this run.
  uint32_t skip = 0;
  std::string inline_bytes;  // Otherwise these.
};
using Pieces = std::vector<Piece>;

uint64_t length_of(const Pieces& pieces);

// Pieces as a value plus refs, for records that carry them (leaves and uncommitted blocks).
void encode_pieces(const Pieces& pieces, store::Record& record);
std::optional<Pieces> decode_pieces(const store::Record& record);

// Where the content of one object lives, and how much of it there is; part of head records.
struct Content {
  uint64_t id = 0;  // 0: empty.
  uint64_t length = 0;
  uint64_t leaves = 0;
  template <class Io>
  void fields(Io& io) {
    io(1, id);
    io(2, length);
    io(3, leaves);
  }
  bool operator==(const Content&) const = default;
};

// Adds the leaves of new content to a commit. Pieces must lie end to end from offset 0.
Content put(store::Commit& commit, store::SpaceId space, std::string_view partition,
            const Pieces& pieces);

// Adds the deletion of all leaves to a commit.
Task<store::Result<void>> remove(store::Store& store, store::Commit& commit, store::SpaceId space,
                                 std::string_view partition, Content content);

// Gathers a body into pieces: small ones inline, larger ones as runs appended to the store as they
// arrive.
class Writer {
 public:
  explicit Writer(store::Store& store) : store_(store) {}
  // Takes chunks of at most kChunkBytes.
  Task<store::Result<void>> add(Buffer chunk);
  Task<store::Result<Pieces>> finish();

 private:
  Task<store::Result<void>> append(Buffer chunk);

  store::Store& store_;
  Buffer first_;  // Held back until more follows or the end shows it to be small.
  Pieces pieces_;
  uint64_t length_ = 0;
};

// Reads `length` bytes from `offset`. open() fetches all leaves of the range from one snapshot;
// after it nothing written later is seen.
class Reader {
 public:
  static Task<store::Result<std::unique_ptr<Reader>>> open(store::Store& store,
                                                           store::SpaceId space,
                                                           std::string_view partition,
                                                           Content content, uint64_t offset,
                                                           uint64_t length);
  // The next bytes; an empty Buffer at the end. With `prefer_file` large parts may come as slices
  // of files.
  Task<store::Result<os::Bytes>> next(bool prefer_file);
  // The whole range at once if it is inline in one record, without copying: the owner keeps the
  // bytes alive.
  struct Shared {
    std::shared_ptr<const void> owner;
    std::string_view bytes;
  };
  std::optional<Shared> whole() const;

 private:
  explicit Reader(store::Store& store) : store_(store) {}

  store::Store& store_;
  std::vector<store::RecordPtr> leaves_;
  size_t leaf_ = 0;
  Pieces pieces_;  // of the current leaf
  size_t piece_ = 0;
  uint64_t at_ = 0;
  uint64_t end_ = 0;
};

}  // namespace kyanite::content
