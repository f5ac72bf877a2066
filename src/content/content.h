// The bytes of a blob or file: an ordered list of pieces, each a part of an extent run, a few bytes
// held inline, or zeros.
//
// Lists are kept as leaves: records in the family kContentFamily, row = content id | mark (both big
// endian). There are two kinds of content:
//
// - Built once (block blobs) or only ever added to (append blobs): leaves of up to kPiecesPerLeaf
//   pieces that are never changed. New content gets a new id and the head record names it. The mark
//   is the offset at which the leaf ends, so that the leaf of any byte is the first one behind it.
// - Sparse (page blobs, files): written in place. Leaf k covers the bytes [k, k + 1) * kGridBytes
//   and is marked by its first; a missing leaf is zeros.
//
// A reader fetches the leaves of its range from one snapshot before the first byte is sent, so it
// streams one version whatever is written meanwhile. Copies share runs, never bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/result.h"
#include "base/task.h"
#include "content/cipher.h"
#include "store/store.h"

namespace kyanite::content {

// Contents up to this size lie in the record itself, so that a small write costs one sync.
inline constexpr size_t kInlineBytes = 8 * 1024;
inline constexpr size_t kPiecesPerLeaf = 128;
inline constexpr uint64_t kGridBytes = 1024 * 1024;
// What a leaf of sparse content holds inline at most: every write to it writes all of that again.
inline constexpr size_t kInlineBytesPerGridLeaf = 16 * 1024;
inline constexpr store::Family kContentFamily = 'C';

struct Piece {
  uint64_t offset = 0;  // within the content
  uint32_t length = 0;
  std::optional<store::Ref> ref;  // Set: bytes `skip .. skip + length` of this run.
  uint32_t skip = 0;
  std::string inline_bytes;  // Else these, or zeros when empty.
  std::optional<Seal> seal;  // Set: the stored bytes are encrypted.

  uint64_t end() const { return offset + length; }
  bool is_zeros() const { return !ref && inline_bytes.empty(); }
  // The part of it within [from, to).
  Piece part(uint64_t from, uint64_t to) const;
};
using Pieces = std::vector<Piece>;

uint64_t length_of(const Pieces& pieces);

// Both hold the bytes of one write; equal bytes written twice do not count. Bytes that were inline
// in one of the two and have moved to a run since are read.
Task<store::Result<bool>> same_write(store::Store& store, const Piece& one, const Piece& other);

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

// Adds pieces at the end of a content that is not sparse, or makes a new one. Holds the pieces of
// one leaf, whatever the length of the whole.
class Builder {
 public:
  Builder(store::Commit& commit, const Place& place, Content content = {});
  // The piece's offset becomes the end of what was added before.
  void add(Piece piece);
  Content finish();

 private:
  void put_leaf();

  store::Commit& commit_;
  const Place place_;
  Content content_;
  Pieces leaf_;
};

// New content. Pieces lie end to end from offset 0.
Content put(store::Commit& commit, const Place& place, const Pieces& pieces);
// Adds pieces at the end of a content that is not sparse; their offsets are relative to its end.
void append(store::Commit& commit, const Place& place, Content& content, Pieces pieces);
// What one commit changes in place.
inline constexpr size_t kMaxLeavesInPlace = 50'000;
inline constexpr size_t kMaxBytesInPlace = 256 * 1024 * 1024;
// Replaces the bytes [offset, offset + length) of sparse content by pieces (with absolute offsets)
// or, without any, zeros. Inline bytes move to a run where a leaf would hold too many of them.
//
// Beyond the limits above, and with a deadline, the content is made anew in portions, under another
// id: whoever names it removes the former one as with any other new content, and guards the head
// that named that one. kTimeout when this takes too long. Without a deadline all is one commit.
Task<store::Result<void>> overwrite(store::Store& store, store::Commit& commit, const Place& place,
                                    Content& content, uint64_t offset, uint64_t length,
                                    const Pieces& pieces, Deadline deadline = {});
// One of several changes of sparse content: [offset, end) is replaced by pieces (with absolute
// offsets, ascending, within it), and by zeros where there are none.
struct Edit {
  uint64_t offset = 0;
  uint64_t end = 0;
  Pieces pieces;
};
// The same for any number of them, in order: a later one wins. Several calls for one commit would
// not see what the others write, so whatever changes together is one call.
Task<store::Result<void>> edit(store::Store& store, store::Commit& commit, const Place& place,
                               Content& content, const std::vector<Edit>& edits,
                               Deadline deadline = {});
// The same pieces under a new id. kConflict when `head`, which names the content, has changed since
// it was read.
Task<store::Result<Content>> copy(store::Store& store, store::Commit& commit, const Place& from,
                                  const Content& content, const Place& to, const store::Guard& head,
                                  Deadline deadline = {});
// All leaves go that the content has.
Task<store::Result<void>> remove(store::Store& store, store::Commit& commit, const Place& place,
                                 const Content& content);
// Likewise when it may be an earlier state of a content that was added to since.
Task<store::Result<void>> remove_all(store::Store& store, store::Commit& commit, const Place& place,
                                     uint64_t content_id);

// For who does not want all pieces of a range at once.
struct Portion {
  size_t leaves = 64;  // No more than the pieces of so many.
  uint64_t next = 0;   // Where those begin that were left out; the end of the range if none were.
};

// The pieces of a range, without those that are zeros, clipped to it.
Task<store::Result<Pieces>> load(store::Store& store, const Place& place, const Content& content,
                                 uint64_t offset, uint64_t length, const store::Guard& head,
                                 Deadline deadline = {}, Portion* portion = nullptr);

// Gathers a body into pieces: small ones inline, larger ones as runs appended to the store as they
// arrive. With a cipher they are encrypted.
class Writer {
 public:
  explicit Writer(store::Store& store, CipherPtr cipher = nullptr)
      : store_(store), cipher_(std::move(cipher)) {}
  // Takes chunks of at most kChunkBytes.
  Task<store::Result<void>> add(Buffer chunk);
  // The same for several, of which full ones are written together.
  Task<store::Result<void>> add_all(std::vector<Buffer> chunks);
  Task<store::Result<Pieces>> finish();

 private:
  Task<store::Result<void>> append(Buffer chunk);
  Task<store::Result<void>> append_all(std::vector<Buffer> chunks);
  Task<std::optional<Seal>> seal(Buffer& bytes);

  store::Store& store_;
  const CipherPtr cipher_;
  Buffer pending_;  // Held back until it is a full run, or the end shows it to be small.
  Pieces pieces_;
  uint64_t length_ = 0;
};

// Reads `length` bytes from `offset`. open() fetches all leaves of the range from one snapshot in
// which the head still is `head`, so that what is read belongs to it; kConflict when the head has
// changed. Nothing written later is seen. Encrypted pieces need the cipher they were written with.
class Reader {
 public:
  static Task<store::Result<std::unique_ptr<Reader>>> open(store::Store& store, const Place& place,
                                                           const Content& content, uint64_t offset,
                                                           uint64_t length,
                                                           const store::Guard& head,
                                                           CipherPtr cipher = nullptr);
  // The next bytes; an empty Buffer at the end. With `prefer_file` large parts may come as slices
  // of files.
  Task<store::Result<os::Bytes>> next(bool prefer_file);
  // How many of the next bytes are zeros that nothing holds, and goes on behind them.
  store::Result<uint64_t> skip_zeros();
  // The whole range at once if it is inline in one record as it is, without copying: the owner
  // keeps the bytes alive.
  struct Shared {
    std::shared_ptr<const void> owner;
    std::string_view bytes;
  };
  std::optional<Shared> whole() const;

 private:
  explicit Reader(store::Store& store) : store_(store) {}
  // Makes piece_ the first piece that ends after at_; false when there is none left.
  store::Result<bool> find_piece();
  // Where the zeros end that begin at at_; at_ itself when there are none.
  store::Result<uint64_t> end_of_zeros();
  Task<store::Result<os::Bytes>> read_piece(const Piece& piece, bool prefer_file);

  store::Store& store_;
  CipherPtr cipher_;
  std::vector<store::RecordPtr> leaves_;
  size_t leaf_ = 0;
  Pieces pieces_;  // of the current leaf
  size_t piece_ = 0;
  uint64_t at_ = 0;
  uint64_t end_ = 0;
  bool sparse_ = false;
};

}  // namespace kyanite::content
