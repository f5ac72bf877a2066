#include "wire/crc64.h"

#include <gtest/gtest.h>

#include <string>

namespace kyanite::wire {
namespace {

uint64_t one_bit_at_a_time(std::string_view bytes) {
  uint64_t crc = ~uint64_t{0};
  for (char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x9A6C9329AC4BC9B5 : 0);
  }
  return ~crc;
}

TEST(Crc64, CheckValue) {
  EXPECT_EQ(crc64(0, "123456789"), 0xae8b14860a799888u);
  EXPECT_EQ(crc64(0, ""), 0u);
}

TEST(Crc64, EveryLengthAndAlignmentAgreesWithTheDefinition) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes.push_back(static_cast<char>(i * 131 + i / 7));
  for (size_t start = 0; start < 9; ++start) {
    for (size_t length = 0; length + start <= bytes.size(); length += length < 700 ? 1 : 97) {
      const std::string_view part = std::string_view(bytes).substr(start, length);
      ASSERT_EQ(crc64(0, part), one_bit_at_a_time(part)) << start << " " << length;
    }
  }
}

TEST(Crc64, ZerosNeedNotBeWalked) {
  for (const size_t count : {0, 1, 7, 8, 127, 512, 1'000'000}) {
    for (const std::string before : {"", "abc"}) {
      const uint64_t crc = crc64(0, before);
      EXPECT_EQ(crc64_zeros(crc, count), crc64(crc, std::string(count, '\0'))) << count;
    }
  }
  // So many that walking them would take minutes.
  constexpr uint64_t kHalf = uint64_t{1} << 39;
  EXPECT_EQ(crc64_zeros(crc64_zeros(7, kHalf), kHalf), crc64_zeros(7, 2 * kHalf));
}

TEST(Crc64, Continues) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<char>(i * 37 + i / 11));
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    ASSERT_EQ(crc64(crc64(0, bytes.substr(0, cut)), bytes.substr(cut)), crc64(0, bytes)) << cut;
  }
}

TEST(Crc64, EveryBitCounts) {
  const std::string bytes(300, 'x');
  const uint64_t whole = crc64(0, bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    ASSERT_NE(crc64(0, flipped), whole) << bit;
  }
}

TEST(Crc64, HeadersCarryTheLeastSignificantByteFirst) {
  EXPECT_EQ(crc64_text(0), "AAAAAAAAAAA=");
  EXPECT_EQ(crc64_text(1), "AQAAAAAAAAA=");
  EXPECT_EQ(crc64_text(crc64(0, "123456789")), "iJh5CoYUi64=");
}

}  // namespace
}  // namespace kyanite::wire
