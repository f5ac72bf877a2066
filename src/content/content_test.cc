#include "content/content.h"

#include <gtest/gtest.h>

#include "base/executor.h"
#include "store/memory.h"
#include "store/test_support.h"

namespace kyanite::content {
namespace {

using store::pattern;

constexpr store::SpaceId kSpace = 7;
constexpr std::string_view kName = "blob";

Pieces write(store::Store& store, const std::vector<std::string>& chunks) {
  Writer writer(store);
  for (const auto& chunk : chunks)
    EXPECT_TRUE(RunLoop::run(writer.add(Buffer::copy_of(chunk))).ok());
  auto pieces = RunLoop::run(writer.finish());
  EXPECT_TRUE(pieces.ok());
  return std::move(*pieces);
}

Content commit(store::Store& store, const Pieces& pieces) {
  store::Commit commit;
  const Content content = put(commit, kSpace, kName, pieces);
  EXPECT_EQ(commit.writes.size(), content.leaves);
  if (commit.writes.empty()) return content;
  EXPECT_TRUE(RunLoop::run(store.commit(std::move(commit))).ok());
  return content;
}

store::Result<std::unique_ptr<Reader>> open(store::Store& store, const Content& content,
                                            uint64_t offset, uint64_t length) {
  return RunLoop::run(Reader::open(store, kSpace, kName, content, offset, length));
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

std::string read(store::Store& store, const Content& content, uint64_t offset, uint64_t length) {
  auto reader = open(store, content, offset, length);
  EXPECT_TRUE(reader.ok());
  auto bytes = drain(**reader);
  EXPECT_TRUE(bytes.ok());
  return *bytes;
}

// How many records the content family holds.
size_t count_leaves(store::Store& store) {
  size_t count = 0;
  const auto looked = RunLoop::run(store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(store::Range::family(kSpace, kContentFamily));
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
    store::MemoryStore store;
    std::vector<std::string> chunks;
    std::string whole;
    for (size_t size : cases[i].chunks) {
      chunks.push_back(pattern(size, whole.size()));
      whole += chunks.back();
    }
    const Pieces pieces = write(store, chunks);
    EXPECT_EQ(length_of(pieces), whole.size());
    ASSERT_EQ(pieces.size(), cases[i].pieces);
    for (const auto& piece : pieces) EXPECT_EQ(!piece.ref.has_value(), cases[i].is_inline);

    const Content content = commit(store, pieces);
    EXPECT_EQ(content.length, whole.size());
    EXPECT_EQ(read(store, content, 0, whole.size()), whole);
    const auto reader = open(store, content, 0, whole.size());
    EXPECT_EQ((*reader)->whole().has_value(), cases[i].is_inline);
  }
}

TEST(Content, NothingNeedsNoRecord) {
  store::MemoryStore store;
  const Content content = commit(store, write(store, {}));
  EXPECT_EQ(content, Content{});
  EXPECT_EQ(read(store, content, 0, 0), "");
  store::Commit removal;
  EXPECT_TRUE(RunLoop::run(remove(store, removal, kSpace, kName, content)).ok());
  EXPECT_TRUE(removal.writes.empty());
}

TEST(Content, InlineRangesAreSharedWithoutCopying) {
  store::MemoryStore store;
  const std::string bytes = pattern(100, 1);
  const Content content = commit(store, write(store, {bytes}));
  for (auto [offset, length] : {std::pair<size_t, size_t>{0, 100}, {0, 1}, {99, 1}, {10, 50}}) {
    auto reader = open(store, content, offset, length);
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
    store::MemoryStore store;
    std::string bytes;
    const Content content = commit(store, many_pieces(store, count, bytes));
    EXPECT_EQ(content.leaves, leaves);
    EXPECT_EQ(count_leaves(store), leaves);
    EXPECT_EQ(read(store, content, 0, bytes.size()), bytes);
  }
}

TEST(Content, RangesAroundEveryBoundary) {
  store::MemoryStore store;
  std::string bytes;
  const Pieces pieces = many_pieces(store, 2 * kPiecesPerLeaf + 40, bytes);
  const Content content = commit(store, pieces);
  // Offsets just before, at and after the beginning of pieces: all of them near the edges of
  // leaves, some elsewhere.
  std::vector<uint64_t> edges = {0, bytes.size()};
  for (size_t i = 1; i < pieces.size(); ++i) {
    const size_t within = i % kPiecesPerLeaf;
    if (within > 1 && within < kPiecesPerLeaf - 1 && i % 37 != 0) continue;
    for (uint64_t edge : {pieces[i].offset - 1, pieces[i].offset, pieces[i].offset + 1})
      edges.push_back(edge);
  }
  for (uint64_t from : edges) {
    for (uint64_t to : edges) {
      if (to < from) continue;
      ASSERT_EQ(read(store, content, from, to - from), bytes.substr(from, to - from))
          << from << " to " << to;
    }
  }
}

TEST(Content, WhatWasReplacedIsAConflictAtOpenButStaysReadableOnceOpen) {
  for (size_t count : {size_t{1}, kPiecesPerLeaf + 1}) {
    SCOPED_TRACE(count);
    store::MemoryStore store;
    std::string bytes;
    const Content content = commit(store, many_pieces(store, count, bytes));
    auto before = open(store, content, 0, bytes.size());
    ASSERT_TRUE(before.ok());

    store::Commit replacement;
    ASSERT_TRUE(RunLoop::run(remove(store, replacement, kSpace, kName, content)).ok());
    EXPECT_EQ(replacement.writes.size(), content.leaves);
    const Content other = put(replacement, kSpace, kName, {inline_piece(0, "new")});
    ASSERT_TRUE(RunLoop::run(store.commit(std::move(replacement))).ok());

    auto after = open(store, content, 0, bytes.size());
    ASSERT_FALSE(after.ok());
    EXPECT_EQ(after.error(), store::Error::kConflict);
    EXPECT_EQ(*drain(**before), bytes);
    EXPECT_EQ(read(store, other, 0, 3), "new");
  }
}

TEST(Content, RemovingLeavesNothingBehindAndOtherContentAlone) {
  store::MemoryStore store;
  std::string bytes;
  const Pieces pieces = many_pieces(store, 3 * kPiecesPerLeaf, bytes);
  const Content first = commit(store, pieces);
  const Content second = commit(store, pieces);  // Shares the runs, as a copy does.
  EXPECT_EQ(count_leaves(store), 6u);
  for (const auto& [content, left] : {std::pair{first, 3u}, std::pair{second, 0u}}) {
    EXPECT_EQ(read(store, content, 0, bytes.size()), bytes);
    store::Commit removal;
    ASSERT_TRUE(RunLoop::run(remove(store, removal, kSpace, kName, content)).ok());
    ASSERT_TRUE(RunLoop::run(store.commit(std::move(removal))).ok());
    EXPECT_EQ(count_leaves(store), left);
  }
}

// Overwrites the only leaf of one-piece content.
Content damage(store::Store& store, const store::Record& leaf) {
  Content content = commit(store, {inline_piece(0, "0123456789")});
  store::Commit change;
  const auto looked = RunLoop::run(store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(store::Range::family(kSpace, kContentFamily));
    change.writes.push_back({store::Key::from_bytes(std::string(cursor->key())),
                             std::make_shared<store::Record>(leaf)});
    return {};
  }));
  EXPECT_TRUE(looked.ok());
  EXPECT_TRUE(RunLoop::run(store.commit(std::move(change))).ok());
  return content;
}

TEST(Content, DamagedLeavesAreReportedNotServed) {
  store::Record gap, short_leaf;
  encode_pieces({inline_piece(5, "56789")}, gap);
  encode_pieces({inline_piece(0, "01234")}, short_leaf);
  for (const auto& leaf : {gap, short_leaf, store::Record{"\x07", {}}}) {
    store::MemoryStore store;
    const Content content = damage(store, leaf);
    auto reader = open(store, content, 0, content.length);
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
      {std::string("\x01\x00\x02\x01", 4) + "a", {}},                   // unknown kind
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
