// An overlay against a plain string on which the same is done.
#include "content/overlay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace kyanite::content {
namespace {

Piece inline_piece(uint64_t offset, std::string bytes) {
  Piece piece;
  piece.offset = offset;
  piece.length = static_cast<uint32_t>(bytes.size());
  piece.inline_bytes = std::move(bytes);
  return piece;
}

// What a reader sees of `stored` under the overlay.
std::string seen(const Overlay& overlay, const std::string& stored) {
  std::string bytes = stored.substr(0, std::min<uint64_t>(stored.size(), overlay.kept()));
  bytes.resize(overlay.length(stored.size()), '\0');
  for (const auto& part : overlay.parts(0, bytes.size())) {
    const std::string fresh =
        part.piece ? part.piece->inline_bytes : std::string(part.to - part.from, '\0');
    EXPECT_EQ(fresh.size(), part.to - part.from);
    bytes.replace(part.from, fresh.size(), fresh);
  }
  return bytes;
}

// What is stored once the edits are done.
std::string settled(const Overlay& overlay, std::string stored) {
  const auto edits = overlay.edits(stored.size());
  const size_t length = overlay.length(stored.size());
  stored.resize(std::max(stored.size(), length), '\0');
  for (const auto& edit : edits) {
    EXPECT_LE(edit.end, stored.size());
    stored.replace(edit.offset, edit.end - edit.offset, edit.end - edit.offset, '\0');
    for (const auto& piece : edit.pieces)
      stored.replace(piece.offset, piece.length, piece.inline_bytes);
  }
  stored.resize(length);
  return stored;
}

// One random change, of the overlay and of the string.
void change(std::mt19937_64& random, Overlay& overlay, std::string& bytes) {
  const uint64_t from = random() % 50;
  const uint64_t to = from + random() % 20;
  switch (random() % 4) {
    case 0:
    case 1: {
      const std::string text(to - from, static_cast<char>('a' + random() % 26));
      overlay.write(inline_piece(from, text));
      if (text.empty()) return;
      bytes.resize(std::max<size_t>(bytes.size(), to), '\0');
      bytes.replace(from, text.size(), text);
      return;
    }
    case 2: {
      const uint64_t end = std::min<uint64_t>(to, bytes.size());
      if (from >= end) return;
      overlay.clear(from, end);
      bytes.replace(from, end - from, end - from, '\0');
      return;
    }
    default:
      overlay.set_length(to);
      bytes.resize(to, '\0');
  }
}

TEST(Overlay, IsWhatWasDoneInOrder) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    const std::string stored(random() % 40, '#');
    std::string bytes = stored;
    Overlay overlay;
    for (int i = 0; i < 12; ++i) change(random, overlay, bytes);
    EXPECT_EQ(seen(overlay, stored), bytes) << seed;
    EXPECT_EQ(settled(overlay, stored), bytes) << seed;
    size_t held = 0;
    for (const auto& part : overlay.parts(0, UINT64_MAX))
      held += part.piece ? part.piece->inline_bytes.size() : 0;
    EXPECT_EQ(overlay.inline_bytes(), held) << seed;
  }
}

TEST(Overlay, OneLaidOverAnotherIsBoth) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    const std::string stored(random() % 40, '#');
    std::string bytes = stored;
    Overlay first;
    for (int i = 0; i < 6; ++i) change(random, first, bytes);
    Overlay second;
    for (int i = 0; i < 6; ++i) change(random, second, bytes);
    const std::string one_after_the_other = settled(second, settled(first, stored));
    EXPECT_EQ(one_after_the_other, bytes) << seed;
    first.lay(std::move(second));
    EXPECT_EQ(settled(first, stored), bytes) << seed;
  }
}

TEST(Overlay, SmallWritesInARowAreOnePiece) {
  Overlay overlay;
  for (uint64_t i = 0; i < 10; ++i) overlay.write(inline_piece(i * 4, "abcd"));
  EXPECT_EQ(overlay.part_count(), 1u);
  EXPECT_EQ(overlay.inline_bytes(), 40u);
}

}  // namespace
}  // namespace kyanite::content
