#include "content/content.h"

#include <gtest/gtest.h>

#include "base/executor.h"
#include "store/memory.h"
#include "store/test_support.h"

namespace kyanite::content {
namespace {

using store::pattern;

constexpr Place kPlace{7, "blob"};
const store::Key kHeadKey(kPlace.space, 'H', kPlace.partition);

// A store with one object in it: its content, and the head record that names it.
struct Object {
  store::MemoryStore store;
  Content content;
  store::Guard head{kHeadKey, nullptr};
  int versions = 0;

  // Makes `next` the content, in one commit with its leaves.
  void save(store::Commit commit, const Content& next) {
    head.expected = store::record_of("version " + std::to_string(++versions));
    commit.writes.push_back({kHeadKey, head.expected});
    EXPECT_TRUE(RunLoop::run(store.commit(std::move(commit))).ok());
    content = next;
  }
  void save(const Pieces& pieces) {
    store::Commit commit;
    const Content next = put(commit, kPlace, pieces);
    EXPECT_EQ(commit.writes.size(), next.leaves);
    save(std::move(commit), next);
  }
  void save_sparse(uint64_t length) { save({}, Content{.length = length, .sparse = true}); }
  void overwrite(uint64_t offset, uint64_t length, const Pieces& pieces) {
    store::Commit commit;
    Content next = content;
    const auto done =
        RunLoop::run(content::overwrite(store, commit, kPlace, next, offset, length, pieces));
    EXPECT_TRUE(done.ok());
    save(std::move(commit), next);
  }

  store::Result<std::unique_ptr<Reader>> open(uint64_t offset, uint64_t length) {
    return RunLoop::run(Reader::open(store, kPlace, content, offset, length, head));
  }
  std::string read(uint64_t offset, uint64_t length);
  std::string read() { return read(0, content.length); }
};

Pieces write(store::Store& store, const std::vector<std::string>& chunks) {
  Writer writer(store);
  for (const auto& chunk : chunks)
    EXPECT_TRUE(RunLoop::run(writer.add(Buffer::copy_of(chunk))).ok());
  auto pieces = RunLoop::run(writer.finish());
  EXPECT_TRUE(pieces.ok());
  return std::move(*pieces);
}

store::Result<std::string> drain(Reader& reader) {
  std::string out;
  while (true) {
    auto bytes = RunLoop::run(reader.next(false));
    if (!bytes) return bytes.error();
    const std::string text = store::text_of(*bytes);
    if (text.empty()) return out;
    out += text;
  }
}

std::string Object::read(uint64_t offset, uint64_t length) {
  auto reader = open(offset, length);
  EXPECT_TRUE(reader.ok());
  auto bytes = drain(**reader);
  EXPECT_TRUE(bytes.ok());
  return bytes.ok() ? *bytes : std::string();
}

// How many records the content family holds.
size_t count_leaves(store::Store& store) {
  size_t count = 0;
  const auto looked = RunLoop::run(store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(store::Range::family(kPlace.space, kContentFamily));
    for (; cursor->valid(); cursor->next()) ++count;
    return cursor->status();
  }));
  EXPECT_TRUE(looked.ok());
  return count;
}

Piece inline_piece(uint64_t offset, std::string bytes) {
  Piece piece;
  piece.offset = offset;
  piece.length = static_cast<uint32_t>(bytes.size());
  piece.inline_bytes = std::move(bytes);
  return piece;
}

// `count` pieces, inline ones and parts of runs by turns, and the bytes they stand for.
Pieces many_pieces(store::Store& store, size_t count, std::string& bytes) {
  Pieces pieces;
  bytes.clear();
  for (size_t i = 0; i < count; ++i) {
    const std::string run = pattern(5 + i % 3, i);
    if (i % 2 == 0) {
      pieces.push_back(inline_piece(bytes.size(), run));
      bytes += run;
      continue;
    }
    auto ref = RunLoop::run(store.append(Buffer::copy_of(run)));
    EXPECT_TRUE(ref.ok());
    Piece piece;
    piece.offset = bytes.size();
    piece.skip = 1;
    piece.length = static_cast<uint32_t>(run.size() - 2);
    piece.ref = *ref;
    pieces.push_back(piece);
    bytes += run.substr(1, run.size() - 2);
  }
  return pieces;
}

TEST(Content, SmallOnesAreInlineAndLargerOnesRuns) {
  struct Case {
    std::vector<size_t> chunks;
    bool is_inline;
    size_t pieces;
  };
  const Case cases[] = {
      {{1}, true, 1},
      {{kInlineBytes}, true, 1},
      {{kInlineBytes + 1}, false, 1},
      {{1, kInlineBytes - 1}, true, 1},
      {{1, kInlineBytes}, false, 2},
      {{1, 2, 3, 0, 4}, true, 1},
      {{kInlineBytes, 1}, false, 2},
      {{kChunkBytes, kChunkBytes, 1}, false, 3},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(i);
    Object object;
    std::vector<std::string> chunks;
    std::string whole;
    for (size_t size : cases[i].chunks) {
      chunks.push_back(pattern(size, whole.size()));
      whole += chunks.back();
    }
    const Pieces pieces = write(object.store, chunks);
    EXPECT_EQ(length_of(pieces), whole.size());
    ASSERT_EQ(pieces.size(), cases[i].pieces);
    for (const auto& piece : pieces) EXPECT_EQ(!piece.ref.has_value(), cases[i].is_inline);

    object.save(pieces);
    EXPECT_EQ(object.content.length, whole.size());
    EXPECT_EQ(object.read(), whole);
    const auto reader = object.open(0, whole.size());
    EXPECT_EQ((*reader)->whole().has_value(), cases[i].is_inline);
  }
}

TEST(Content, NothingNeedsNoRecord) {
  Object object;
  object.save(write(object.store, {}));
  EXPECT_EQ(object.content, Content{});
  EXPECT_EQ(object.read(), "");
  store::Commit removal;
  EXPECT_TRUE(RunLoop::run(remove(object.store, removal, kPlace, object.content)).ok());
  EXPECT_TRUE(removal.writes.empty());
}

TEST(Content, InlineRangesAreSharedWithoutCopying) {
  Object object;
  const std::string bytes = pattern(100, 1);
  object.save(write(object.store, {bytes}));
  for (auto [offset, length] : {std::pair<size_t, size_t>{0, 100}, {0, 1}, {99, 1}, {10, 50}}) {
    auto reader = object.open(offset, length);
    ASSERT_TRUE(reader.ok());
    const auto shared = (*reader)->whole();
    reader->reset();  // The owner alone keeps the bytes.
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->bytes, bytes.substr(offset, length));
  }
}

TEST(Content, LeavesHoldALimitedNumberOfPieces) {
  const std::pair<size_t, uint64_t> cases[] = {{1, 1},
                                               {kPiecesPerLeaf, 1},
                                               {kPiecesPerLeaf + 1, 2},
                                               {2 * kPiecesPerLeaf, 2},
                                               {2 * kPiecesPerLeaf + 1, 3}};
  for (const auto& [count, leaves] : cases) {
    Object object;
    std::string bytes;
    object.save(many_pieces(object.store, count, bytes));
    EXPECT_EQ(object.content.leaves, leaves);
    EXPECT_EQ(count_leaves(object.store), leaves);
    EXPECT_EQ(object.read(), bytes);
  }
}

TEST(Content, RangesAroundEveryBoundary) {
  Object object;
  std::string bytes;
  const Pieces pieces = many_pieces(object.store, 2 * kPiecesPerLeaf + 40, bytes);
  object.save(pieces);
  // Offsets just before, at and after the beginning of the pieces at the edges of leaves.
  std::vector<uint64_t> edges = {0, bytes.size()};
  for (size_t i = 1; i < pieces.size(); ++i) {
    const size_t within = i % kPiecesPerLeaf;
    if (within > 1 && within < kPiecesPerLeaf - 1) continue;
    for (uint64_t edge : {pieces[i].offset - 1, pieces[i].offset, pieces[i].offset + 1})
      edges.push_back(edge);
  }
  for (uint64_t from : edges) {
    for (uint64_t to : edges) {
      if (to < from) continue;
      ASSERT_EQ(object.read(from, to - from), bytes.substr(from, to - from))
          << from << " to " << to;
    }
  }
}

TEST(Content, WhatWasReplacedIsAConflictAtOpenButStaysReadableOnceOpen) {
  for (size_t count : {size_t{1}, kPiecesPerLeaf + 1}) {
    SCOPED_TRACE(count);
    Object object;
    std::string bytes;
    object.save(many_pieces(object.store, count, bytes));
    const Content old = object.content;
    const store::Guard old_head = object.head;
    auto before = object.open(0, bytes.size());
    ASSERT_TRUE(before.ok());

    store::Commit replacement;
    ASSERT_TRUE(RunLoop::run(remove(object.store, replacement, kPlace, old)).ok());
    EXPECT_EQ(replacement.writes.size(), old.leaves);
    const Content fresh = put(replacement, kPlace, {inline_piece(0, "new")});
    object.save(std::move(replacement), fresh);

    const auto after =
        RunLoop::run(Reader::open(object.store, kPlace, old, 0, old.length, old_head));
    ASSERT_FALSE(after.ok());
    EXPECT_EQ(after.error(), store::Error::kConflict);
    EXPECT_EQ(*drain(**before), bytes);
    EXPECT_EQ(object.read(), "new");
  }
}

TEST(Content, RemovingLeavesNothingBehindAndOtherContentAlone) {
  Object object;
  std::string bytes;
  object.save(many_pieces(object.store, 3 * kPiecesPerLeaf, bytes));
  const Content first = object.content;
  store::Commit copying;
  const auto second = RunLoop::run(content::copy(object.store, copying, kPlace, first, kPlace));
  ASSERT_TRUE(second.ok());
  EXPECT_NE(second->id, first.id);
  object.save(std::move(copying), *second);
  EXPECT_EQ(count_leaves(object.store), 6u);
  EXPECT_EQ(object.read(), bytes);
  for (const auto& [content, left] : {std::pair{first, 3u}, std::pair{*second, 0u}}) {
    store::Commit removal;
    ASSERT_TRUE(RunLoop::run(remove(object.store, removal, kPlace, content)).ok());
    ASSERT_TRUE(RunLoop::run(object.store.commit(std::move(removal))).ok());
    EXPECT_EQ(count_leaves(object.store), left);
  }
  const auto gone = RunLoop::run(content::copy(object.store, copying, kPlace, first, kPlace));
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error(), store::Error::kConflict);
}

TEST(Content, AppendingKeepsWhatEarlierHeadsName) {
  Object object;
  std::string bytes;
  std::vector<std::pair<Content, std::string>> versions;
  for (size_t count : {size_t{1}, size_t{3}, kPiecesPerLeaf + 2, size_t{1}}) {
    std::string more;
    const Pieces pieces = many_pieces(object.store, count, more);
    store::Commit commit;
    Content next = object.content;
    append(commit, kPlace, next, pieces);
    object.save(std::move(commit), next);
    bytes += more;
    EXPECT_EQ(object.content.length, bytes.size());
    EXPECT_EQ(object.read(), bytes);
    versions.emplace_back(object.content, bytes);
  }
  for (const auto& [content, expected] : versions) {  // As snapshots taken then would copy them.
    store::Commit commit;
    const auto copied = RunLoop::run(content::copy(object.store, commit, kPlace, content, kPlace));
    ASSERT_TRUE(copied.ok());
    object.save(std::move(commit), *copied);
    EXPECT_EQ(object.read(), expected);
  }
}

TEST(SparseContent, IsZerosUntilWritten) {
  Object object;
  object.save_sparse(3 * kGridBytes);
  EXPECT_EQ(object.read(kGridBytes - 10, 20), std::string(20, '\0'));
  object.overwrite(0, 3 * kGridBytes, {});  // Clearing what is clear.
  EXPECT_EQ(count_leaves(object.store), 0u);
  EXPECT_EQ(object.read(), std::string(3 * kGridBytes, '\0'));
}

TEST(SparseContent, ClearingEverythingLeavesNoRecord) {
  Object object;
  object.save_sparse(3 * kGridBytes);
  for (uint64_t at : {uint64_t{0}, kGridBytes - 2, 2 * kGridBytes})
    object.overwrite(at, 4, {inline_piece(at, "data")});
  EXPECT_EQ(count_leaves(object.store), 3u);
  object.overwrite(0, 3 * kGridBytes, {});
  EXPECT_EQ(count_leaves(object.store), 0u);
  EXPECT_EQ(object.read(kGridBytes - 4, 8), std::string(8, '\0'));
}

TEST(SparseContent, AReaderSeesTheVersionItOpenedAndNoOther) {
  Object object;
  object.save_sparse(2 * kGridBytes);
  object.overwrite(0, 5, {inline_piece(0, "first")});
  const Content old = object.content;
  const store::Guard old_head = object.head;
  auto before = object.open(0, 5);
  ASSERT_TRUE(before.ok());
  object.overwrite(0, 5, {inline_piece(0, "later")});
  EXPECT_EQ(*drain(**before), "first");
  EXPECT_EQ(object.read(0, 5), "later");
  const auto late = RunLoop::run(Reader::open(object.store, kPlace, old, 0, 5, old_head));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error(), store::Error::kConflict);
}

// Random writes and clears, mostly around the borders of leaves, against a plain string.
TEST(SparseContent, BehavesLikeAnArrayOfBytes) {
  constexpr uint64_t kLength = 3 * kGridBytes - 4096;
  Object object;
  object.save_sparse(kLength);
  std::string model(kLength, '\0');
  uint64_t seed = 1;
  const auto below = [&](uint64_t limit) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % limit;
  };
  for (int step = 0; step < 300; ++step) {
    SCOPED_TRACE(step);
    const uint64_t near = below(3) * kGridBytes;
    const uint64_t offset =
        std::min(near < 3000 ? below(3000) : near - 3000 + below(6000), kLength - 1);
    const uint64_t length = 1 + below(std::min<uint64_t>(kLength - offset, 5000));
    Pieces pieces;
    if (below(4) != 0) {
      const std::string bytes = pattern(length, static_cast<uint64_t>(step));
      pieces = below(2) == 0 ? Pieces{inline_piece(offset, bytes)} : Pieces{};
      if (pieces.empty()) {
        Piece piece;
        piece.offset = offset;
        piece.length = static_cast<uint32_t>(length);
        piece.ref = *RunLoop::run(object.store.append(Buffer::copy_of(bytes)));
        pieces.push_back(piece);
      }
      model.replace(offset, length, bytes);
    } else {
      model.replace(offset, length, length, '\0');
    }
    object.overwrite(offset, length, pieces);

    const uint64_t from = offset - std::min<uint64_t>(offset, below(3000));
    const uint64_t to = std::min(kLength, offset + length + below(3000));
    ASSERT_EQ(object.read(from, to - from), model.substr(from, to - from));
    const auto loaded =
        RunLoop::run(load(object.store, kPlace, object.content, from, to - from, object.head));
    ASSERT_TRUE(loaded.ok());
    std::string rebuilt(to - from, '\0');
    for (const auto& piece : *loaded) {
      ASSERT_GE(piece.offset, from);
      ASSERT_LE(piece.end(), to);
      ASSERT_FALSE(piece.is_zeros());
      rebuilt.replace(piece.offset - from, piece.length, model.substr(piece.offset, piece.length));
    }
    ASSERT_EQ(rebuilt, model.substr(from, to - from));  // Only zeros are left out.
  }
  EXPECT_EQ(object.read(), model);
  store::Commit commit;
  const auto copied =
      RunLoop::run(content::copy(object.store, commit, kPlace, object.content, kPlace));
  ASSERT_TRUE(copied.ok());
  object.save(std::move(commit), *copied);
  EXPECT_EQ(object.read(), model);
}

// Overwrites the only leaf of one-piece content.
void damage(Object& object, const store::Record& leaf) {
  object.save({inline_piece(0, "0123456789")});
  store::Commit change;
  const auto looked =
      RunLoop::run(object.store.read([&](const store::View& view) -> store::Result<void> {
        auto cursor = view.scan(store::Range::family(kPlace.space, kContentFamily));
        change.writes.push_back({store::Key::from_bytes(std::string(cursor->key())),
                                 std::make_shared<store::Record>(leaf)});
        return {};
      }));
  EXPECT_TRUE(looked.ok());
  EXPECT_TRUE(RunLoop::run(object.store.commit(std::move(change))).ok());
}

TEST(Content, DamagedLeavesAreReportedNotServed) {
  store::Record gap, short_leaf;
  encode_pieces({inline_piece(5, "56789")}, gap);
  encode_pieces({inline_piece(0, "01234")}, short_leaf);
  for (const auto& leaf : {gap, short_leaf, store::Record{"\x07", {}}}) {
    Object object;
    damage(object, leaf);
    auto reader = object.open(0, object.content.length);
    ASSERT_TRUE(reader.ok());
    EXPECT_FALSE((*reader)->whole());
    const auto bytes = drain(**reader);
    ASSERT_FALSE(bytes.ok());
    EXPECT_EQ(bytes.error(), store::Error::kCorrupt);
  }
}

TEST(Pieces, RoundTrip) {
  store::MemoryStore store;
  std::string bytes;
  for (size_t count : {0, 1, 2, 129}) {
    const Pieces pieces = many_pieces(store, count, bytes);
    store::Record record;
    encode_pieces(pieces, record);
    const auto decoded = decode_pieces(record);
    ASSERT_TRUE(decoded);
    ASSERT_EQ(decoded->size(), count);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ((*decoded)[i].offset, pieces[i].offset);
      EXPECT_EQ((*decoded)[i].length, pieces[i].length);
      EXPECT_EQ((*decoded)[i].ref, pieces[i].ref);
      EXPECT_EQ((*decoded)[i].skip, pieces[i].skip);
      EXPECT_EQ((*decoded)[i].inline_bytes, pieces[i].inline_bytes);
    }
  }
}

TEST(Pieces, RefusesBytesThatAreNoPieces) {
  const std::string most(9, '\xff');  // The first nine bytes of the largest varint.
  const std::vector<store::Ref> one_ref = {{1, 0, 10, 0}};
  const store::Record cases[] = {
      {"", {}},
      {"\x02", {}},                                                     // unknown format
      {"\x01", {}},                                                     // no offset
      {std::string("\x01\x00\x00", 3), {}},                             // kind without length
      {std::string("\x01\x00\x00\x05", 4) + "abcd", {}},                // inline bytes cut short
      {std::string("\x01\x00\x03\x01", 4) + "a", {}},                   // unknown kind
      {std::string("\x01\x00\x01\x01\x00", 5), {}},                     // run without a ref
      {std::string("\x01\x00\x01\x01", 4), one_ref},                    // run without skip
      {std::string("\x01\x00\x01\x0b\x00", 5), one_ref},                // longer than its run
      {std::string("\x01\x00\x01\x05\x06", 5), one_ref},                // beyond the end of its run
      {std::string("\x01\x00\x01\x05", 4) + most + "\x01", one_ref},    // skip overflows
      {"\x01" + most + "\x01" + std::string("\x00\x01", 2) + "a", {}},  // offset overflows
      {std::string("\x01\x00\x00\x80\x80\x80\x80\x10", 8), {}},         // length of 4 GiB
  };
  for (size_t i = 0; i < std::size(cases); ++i) EXPECT_FALSE(decode_pieces(cases[i])) << i;
  EXPECT_TRUE(decode_pieces({std::string("\x01\x00\x01\x05\x05", 5), one_ref}));
}

}  // namespace
}  // namespace kyanite::content
