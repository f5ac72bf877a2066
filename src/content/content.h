// The bytes of a blob or file: an ordered list of pieces, each a part of an extent run, a few bytes
// held inline, or zeros.
//
// Lists are kept as leaves: records in the family kContentFamily, row = content id | offset of the
// first byte (both big endian). There are two kinds of content:
//
// - Built once (block blobs) or only ever added to (append blobs): leaves of up to kPiecesPerLeaf
// pieces that are never
//   changed. New content gets a new id and the head record names it.
// - Sparse (page blobs, files): written in place. Leaf k covers the bytes [k, k + 1) * kGridBytes;
// a missing leaf is zeros.
//
// A reader fetches the leaves of its range from one snapshot before the first byte is sent, so it
// streams one version whatever is written meanwhile. Copies share runs, never bytes.
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
inline constexpr uint64_t kGridBytes = 1024 * 1024;
inline constexpr store::Family kContentFamily = 'C';

struct Piece {
  uint64_t offset = 0;  // within the content
  uint32_t length = 0;
  std::optional<store::Ref> ref;  // Set: bytes `skip .. skip + length` of this run.
  uint32_t skip = 0;
  std::string inline_bytes;  // Else these, or zeros when empty.

  uint64_t end() const { return offset + length; }
  bool is_zeros() const { return !ref && inline_bytes.empty(); }
  // The part of it within [from, to).
  Piece part(uint64_t from, uint64_t to) const;
  // Both hold the same stored bytes; equal bytes stored twice do not count.
  bool same_bytes(const Piece& other) const;
};
using Pieces = std::vector<Piece>;

uint64_t length_of(const Pieces& pieces);

// Pieces as a value plus refs, for records that carry them (leaves and uncommitted blocks).
void encode_pieces(const Pieces& pieces, store::Record& record);
std::optional<Pieces> decode_pieces(const store::Record& record);

// The object a content belongs to.
struct Place {
  store::SpaceId space = 0;
  std::string_view partition;
};

// Which content an object has, and how much of it there is; part of head records.
struct Content {
  uint64_t id = 0;  // 0: none yet; reads as zeros.
  uint64_t length = 0;
  uint64_t leaves = 0;  // not counted when sparse
  bool sparse = false;
  template <class Io>
  void fields(Io& io) {
    io(1, id);
    io(2, length);
    io(3, leaves);
    io(4, sparse);
  }
  bool operator==(const Content&) const = default;
};

// The functions below add their writes to a commit, which must also write the head that names the
// content.

// New content. Pieces lie end to end from offset 0.
Content put(store::Commit& commit, const Place& place, const Pieces& pieces);
// Adds pieces at the end of a content that is not sparse; their offsets are relative to its end.
void append(store::Commit& commit, const Place& place, Content& content, Pieces pieces);
// Replaces the bytes [offset, offset + length) of sparse content by pieces (with absolute offsets)
// or, without any, zeros.
Task<store::Result<void>> overwrite(store::Store& store, store::Commit& commit, const Place& place,
                                    Content& content, uint64_t offset, uint64_t length,
                                    const Pieces& pieces);
// The same pieces under a new id. kConflict when the content was replaced since its head was read
// or, with `head`, when that is no longer the head: copies from another partition, which the commit
// cannot guard.
Task<store::Result<Content>> copy(store::Store& store, store::Commit& commit, const Place& from,
                                  const Content& content, const Place& to,
                                  const store::Guard* head = nullptr);
// All leaves go.
Task<store::Result<void>> remove(store::Store& store, store::Commit& commit, const Place& place,
                                 const Content& content);

// The pieces of a range, without those that are zeros, clipped to it.
Task<store::Result<Pieces>> load(store::Store& store, const Place& place, const Content& content,
                                 uint64_t offset, uint64_t length, const store::Guard& head);

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

// Reads `length` bytes from `offset`. open() fetches all leaves of the range from one snapshot in
// which the head still is `head`, so that what is read belongs to it; kConflict when the head has
// changed. Nothing written later is seen.
class Reader {
 public:
  static Task<store::Result<std::unique_ptr<Reader>>> open(store::Store& store, const Place& place,
                                                           const Content& content, uint64_t offset,
                                                           uint64_t length,
                                                           const store::Guard& head);
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
  // Makes piece_ the first piece that ends after at_; false when there is none left.
  store::Result<bool> find_piece();

  store::Store& store_;
  std::vector<store::RecordPtr> leaves_;
  size_t leaf_ = 0;
  Pieces pieces_;  // of the current leaf
  size_t piece_ = 0;
  uint64_t at_ = 0;
  uint64_t end_ = 0;
  bool sparse_ = false;
};

}  // namespace kyanite::content
