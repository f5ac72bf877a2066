#include "content/content.h"

#include <gtest/gtest.h>

#include "content/test_support.h"

namespace kyanite::content {
namespace {

using store::pattern;

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
      {{1, kInlineBytes}, false, 1},
      {{1, 2, 3, 0, 4}, true, 1},
      {{kInlineBytes, 1}, false, 1},
      {{1, kInlineBytes, kChunkBytes - kInlineBytes - 1}, false, 1},
      {{1, kInlineBytes, kChunkBytes - kInlineBytes}, false, 2},
      {{1, kChunkBytes}, false, 2},
      {{kChunkBytes, kChunkBytes, 1}, false, 3},
      {{kChunkBytes, 1, kChunkBytes, kChunkBytes, 7}, false, 5},
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
    for (const bool together : {false, true}) {
      const Pieces pieces =
          together ? write_together(object.store, chunks) : write(object.store, chunks);
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
  const auto second =
      RunLoop::run(content::copy(object.store, copying, kPlace, first, kPlace, object.head));
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
  // A head that names what is gone is damage.
  const auto gone =
      RunLoop::run(content::copy(object.store, copying, kPlace, first, kPlace, object.head));
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error(), store::Error::kCorrupt);
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
    const auto copied =
        RunLoop::run(content::copy(object.store, commit, kPlace, content, kPlace, object.head));
    ASSERT_TRUE(copied.ok());
    object.save(std::move(commit), *copied);
    EXPECT_EQ(object.read(), expected);
  }
}

// Overwrites the only leaf of one-piece content.
void damage(Object& object, const store::Record& leaf) {
  object.save({inline_piece(0, "0123456789")});
  store::Commit change;
  const auto looked =
      RunLoop::run(object.store.look([&](const store::View& view) -> store::Result<void> {
        auto cursor = view.scan(store::Range::family(kPlace.space, kContentFamily));
        change.put(store::Key::from_bytes(std::string(cursor->key())),
                   std::make_shared<store::SharedRecord>(leaf));
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
