#include "base/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kyanite {
namespace {

TEST(Buffer, IsPageAlignedAndRoundedUpToPages) {
  const std::pair<size_t, size_t> cases[] = {{1, kPageBytes},
                                             {kPageBytes, kPageBytes},
                                             {kPageBytes + 1, 2 * kPageBytes},
                                             {kChunkBytes, kChunkBytes},
                                             {kChunkBytes + 1, kChunkBytes + kPageBytes}};
  for (const auto& [asked, capacity] : cases) {
    for (int i = 0; i < 3; ++i) {  // Also when reused.
      Buffer buffer(asked);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % kPageBytes, 0u);
      EXPECT_EQ(buffer.capacity(), capacity);
      EXPECT_EQ(buffer.room(), capacity);
      EXPECT_TRUE(buffer.empty());
    }
  }
}

TEST(Buffer, OfNothing) {
  EXPECT_EQ(Buffer(0).capacity(), 0u);
  EXPECT_EQ(Buffer::copy_of("").capacity(), 0u);
  Buffer buffer;
  buffer.append("");
  EXPECT_EQ(buffer.view(), "");
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(Buffer, AppendsAndResizes) {
  Buffer buffer(10);
  buffer.append("abc");
  buffer.append("def");
  EXPECT_EQ(buffer.view(), "abcdef");
  EXPECT_EQ(buffer.room(), kPageBytes - 6);
  buffer.resize(2);
  EXPECT_EQ(buffer.view(), "ab");
  buffer.append(std::string(buffer.room(), 'x'));
  EXPECT_EQ(buffer.room(), 0u);
}

TEST(Buffer, MovesEmptyTheSource) {
  Buffer a = Buffer::copy_of("first");
  Buffer b = std::move(a);
  EXPECT_TRUE(a.empty());  // NOLINT: the state after a move is promised.
  EXPECT_EQ(a.capacity(), 0u);
  EXPECT_EQ(b.view(), "first");
  Buffer c = Buffer::copy_of("second");
  c = std::move(b);
  EXPECT_EQ(c.view(), "first");
  EXPECT_TRUE(b.empty());  // NOLINT
  Buffer& same = c;
  c = std::move(same);
  EXPECT_EQ(c.view(), "first");
}

TEST(Buffer, FullSizeBlocksLiveApart) {
  std::vector<Buffer> buffers;
  for (int round = 0; round < 2; ++round) {  // The second time from the free list, in part.
    for (int i = 0; i < 100; ++i) {
      buffers.emplace_back(kChunkBytes);
      buffers.back().append(std::to_string(i));
    }
    for (size_t i = 0; i < 100; ++i) EXPECT_EQ(buffers[i].view(), std::to_string(i));
    buffers.clear();
  }
}

TEST(Buffer, LentPagesAreTheirOwners) {
  Buffer owner(2 * kPageBytes);
  owner.resize(2 * kPageBytes);
  owner.data()[kPageBytes] = 'x';
  {
    Buffer lent = Buffer::lent(owner.data() + kPageBytes, kPageBytes);
    EXPECT_EQ(lent.view().data(), owner.view().data() + kPageBytes);
    EXPECT_EQ(lent.size(), kPageBytes);
    EXPECT_EQ(lent.room(), 0u);
    Buffer moved = std::move(lent);
    lent = Buffer::copy_of("own");  // NOLINT
    moved = std::move(lent);
    EXPECT_EQ(moved.view(), "own");
  }
  EXPECT_EQ(owner.data()[kPageBytes], 'x');
}

TEST(BufferDeathTest, NeverWritesPastItsEnd) {
  Buffer owner(kPageBytes);
  EXPECT_DEATH(Buffer::lent(owner.data() + 1, kPageBytes), "kPageBytes");
  EXPECT_DEATH(Buffer::lent(owner.data(), 1), "kPageBytes");
  EXPECT_DEATH(Buffer(1).resize(kPageBytes + 1), "size <= capacity_");
  EXPECT_DEATH(Buffer().append("x"), "room");
}

}  // namespace
}  // namespace kyanite
