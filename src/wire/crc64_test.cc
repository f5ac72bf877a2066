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
  for (int i = 0; i < 1200; ++i) bytes.push_back(static_cast<char>(i * 131 + i / 7));
  for (size_t start = 0; start < 9; ++start) {
    for (size_t length = 0; length + start <= bytes.size(); length += length < 300 ? 1 : 97) {
      const std::string_view part = std::string_view(bytes).substr(start, length);
      ASSERT_EQ(crc64(0, part), one_bit_at_a_time(part)) << start << " " << length;
    }
  }
}

TEST(Crc64, Continues) {
  const std::string bytes(1000, 'x');
  for (size_t cut : {0, 1, 7, 8, 500, 999, 1000}) {
    EXPECT_EQ(crc64(crc64(0, bytes.substr(0, cut)), bytes.substr(cut)), crc64(0, bytes));
  }
}

}  // namespace
}  // namespace kyanite::wire
