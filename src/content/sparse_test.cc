#include <gtest/gtest.h>

#include <algorithm>

#include "content/test_support.h"

namespace kyanite::content {
namespace {

TEST(SparseContent, IsZerosUntilWritten) {
  Object object;
  object.save_sparse(3 * kGridBytes);
  EXPECT_EQ(object.read(kGridBytes - 10, 20), std::string(20, '\0'));
  object.overwrite(0, 3 * kGridBytes, {});  // Clearing what is clear.
  EXPECT_EQ(count_leaves(object.store), 0u);
  EXPECT_EQ(object.read(), std::string(3 * kGridBytes, '\0'));
}

TEST(SparseContent, ZerosCanBePassedOver) {
  Object object;
  object.save_sparse(40 * kGridBytes);
  object.overwrite(5, 4, {inline_piece(5, "data")});
  object.overwrite(30 * kGridBytes, 4, {inline_piece(30 * kGridBytes, "more")});
  auto reader = object.open(2, 40 * kGridBytes - 2);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(*(*reader)->skip_zeros(), 3u);
  EXPECT_EQ(*(*reader)->skip_zeros(), 0u) << "data follows";
  EXPECT_EQ(store::text_of(*RunLoop::run((*reader)->next(false))), "data");
  EXPECT_EQ(*(*reader)->skip_zeros(), 30 * kGridBytes - 9);
  EXPECT_EQ(store::text_of(*RunLoop::run((*reader)->next(false))), "more");
  EXPECT_EQ(*(*reader)->skip_zeros(), 10 * kGridBytes - 4);
  EXPECT_EQ(*(*reader)->skip_zeros(), 0u) << "the end";
  EXPECT_EQ(store::text_of(*RunLoop::run((*reader)->next(false))), "");
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
  // Within one leaf, and across two.
  for (const uint64_t length : {uint64_t{5}, kGridBytes + 1}) {
    const auto late = RunLoop::run(Reader::open(object.store, kPlace, old, 0, length, old_head));
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error(), store::Error::kConflict);
  }
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
  const auto copied = RunLoop::run(
      content::copy(object.store, commit, kPlace, object.content, kPlace, object.head));
  ASSERT_TRUE(copied.ok());
  object.save(std::move(commit), *copied);
  EXPECT_EQ(object.read(), model);
}

// The pieces of the whole content.
Pieces load_all(Object& object) {
  auto pieces = RunLoop::run(
      load(object.store, kPlace, object.content, 0, object.content.length, object.head));
  EXPECT_TRUE(pieces.ok());
  return std::move(*pieces);
}

TEST(SparseContent, ALeafHoldsFewBytesInlineHoweverManySmallWritesItTook) {
  constexpr size_t kWrite = 4096;
  Object object;
  object.save_sparse(kGridBytes);
  std::string model(kGridBytes, '\0');
  size_t runs = 0;
  for (uint64_t step = 0; step < kGridBytes / kWrite; ++step) {
    const uint64_t at = step * 37 % (kGridBytes / kWrite) * kWrite;  // Each page once, in disorder.
    const std::string bytes = pattern(kWrite, step);
    model.replace(at, kWrite, bytes);
    store::Commit commit;
    Content next = object.content;
    ASSERT_TRUE(RunLoop::run(overwrite(object.store, commit, kPlace, next, at, kWrite,
                                       {inline_piece(at, bytes)}))
                    .ok());
    // What one write costs: the leaf again, never more than a small part of what it covers.
    ASSERT_EQ(commit.writes.size(), 1u);
    EXPECT_LE(commit.writes.front().record->value.size(), kInlineBytesPerGridLeaf + 4096);
    runs = commit.writes.front().record->refs.size();
    object.save(std::move(commit), next);
  }
  EXPECT_EQ(object.read(), model);
  EXPECT_GT(runs, 0u);
}

TEST(SparseContent, NeighboursThatMoveToARunTogetherBecomeOnePiece) {
  constexpr size_t kWrite = 4096;
  Object object;
  object.save_sparse(kGridBytes);
  std::string model;
  for (uint64_t step = 0; step * kWrite <= kInlineBytesPerGridLeaf; ++step) {
    model += pattern(kWrite, step);
    object.overwrite(step * kWrite, kWrite,
                     {inline_piece(step * kWrite, model.substr(step * kWrite))});
  }
  const Pieces pieces = load_all(object);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_TRUE(pieces.front().ref);
  EXPECT_EQ(pieces.front().length, model.size());
  EXPECT_EQ(object.read(0, model.size()), model);
}

TEST(SparseContent, BytesThatMovedToARunAreStillTheSameWrite) {
  Object object;
  object.save_sparse(kGridBytes);
  const std::string bytes = pattern(8000, 1);
  object.overwrite(0, bytes.size(), {inline_piece(0, bytes)});
  const Piece before = load_all(object).front();
  ASSERT_FALSE(before.ref);
  for (uint64_t at : {10'000, 20'000}) object.overwrite(at, 8000, {inline_piece(at, bytes)});
  const Piece after = load_all(object).front();
  ASSERT_TRUE(after.ref);
  const auto same = [&](const Piece& one, const Piece& other) {
    const auto answer = RunLoop::run(same_write(object.store, one, other));
    EXPECT_TRUE(answer.ok());
    return *answer;
  };
  EXPECT_TRUE(same(before, after));
  EXPECT_TRUE(same(after, before));
  EXPECT_TRUE(same(after, after));
  EXPECT_FALSE(same(before, after.part(0, 7999)));
  EXPECT_FALSE(same(before.part(0, 100), after.part(100, 200)));
  EXPECT_FALSE(same(load_all(object)[1], after));  // Equal bytes, another write.
}

}  // namespace
}  // namespace kyanite::content
