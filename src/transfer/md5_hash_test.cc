#include "transfer/md5_hash.h"

#include <gtest/gtest.h>

#include <random>

#include "base/bytes.h"

namespace kyanite::transfer {
namespace {

std::string random_text(std::mt19937_64& random, size_t bytes) {
  std::string text(bytes, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  return text;
}

std::string md5_of(std::string_view text) {
  Md5Hash md5;
  md5.update(text);
  return md5.finish();
}

TEST(Md5Hash, IsThatOfTheStandard) {
  EXPECT_EQ(hex(md5_of("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex(md5_of("abc")), "900150983cd24fb0d6963f7d28e17f72");
}

TEST(Md5Hash, OfTwoAtOnceIsThatOfEach) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    Md5Hash one;
    Md5Hash other;
    std::string all;
    std::string others;
    for (int part = 0; part < 4; ++part) {
      // Whole blocks, parts of them, nothing.
      const size_t sizes[] = {0, 1, 63, 64, 65, 128, random() % 1000, 64 * (random() % 50)};
      const std::string piece = random_text(random, sizes[random() % std::size(sizes)]);
      const std::string other_piece = random_text(random, sizes[random() % std::size(sizes)]);
      Md5Hash::update_both(one, piece, other, other_piece);
      all += piece;
      others += other_piece;
    }
    ASSERT_EQ(hex(one.finish()), hex(md5_of(all))) << round;
    ASSERT_EQ(hex(other.finish()), hex(md5_of(others))) << round;
  }
}

TEST(Md5Hash, CountsMoreThan512MiB) {
  const std::string part(1 << 20, 'x');
  Md5Hash one;
  Md5Hash other;
  Md5Hash alone;
  for (int i = 0; i < 513; ++i) {
    Md5Hash::update_both(one, part, other, part);
    alone.update(part);
  }
  const std::string expected = alone.finish();
  EXPECT_EQ(one.finish(), expected);
  EXPECT_EQ(other.finish(), expected);
}

}  // namespace
}  // namespace kyanite::transfer
