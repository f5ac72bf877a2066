#include "transfer/md5_hash.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <random>
#include <vector>

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

class EachWay : public testing::TestWithParam<Md5Hash::Instructions> {
 protected:
  void SetUp() override {
    if (!Md5Hash::has(GetParam())) GTEST_SKIP() << "this machine does not have them";
  }
};
INSTANTIATE_TEST_SUITE_P(Md5Hash, EachWay,
                         testing::Values(Md5Hash::Instructions::kUsual,
                                         Md5Hash::Instructions::kAvx512));

std::string md5_by_openssl(std::string_view text) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
             EVP_md5(), nullptr);
  return digest.substr(0, size);
}

TEST_P(EachWay, OfSeveralAtOnceIsThatOfEach) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 400; ++round) {
    const size_t bodies = 1 + static_cast<size_t>(round) % Md5Hash::kMostAtOnce;
    std::vector<Md5Hash> hashes(bodies);
    std::vector<std::string> all(bodies);
    for (int part = 0; part < 4; ++part) {
      // Whole blocks, parts of them, nothing.
      const size_t sizes[] = {0, 1, 63, 64, 65, 128, random() % 1000, 64 * (random() % 50)};
      std::vector<std::string> pieces;
      for (size_t i = 0; i < bodies; ++i)
        pieces.push_back(random_text(random, sizes[random() % std::size(sizes)]));
      std::vector<Md5Hash::Update> updates;
      for (size_t i = 0; i < bodies; ++i) {
        updates.push_back({&hashes[i], pieces[i]});
        all[i] += pieces[i];
      }
      Md5Hash::update_all(updates, GetParam());
    }
    for (size_t i = 0; i < bodies; ++i)
      ASSERT_EQ(hex(hashes[i].finish()), hex(md5_by_openssl(all[i]))) << round << " " << i;
  }
}

TEST_P(EachWay, CountsMoreThan512MiB) {
  const std::string part(1 << 20, 'x');
  std::vector<Md5Hash> hashes(Md5Hash::kMostAtOnce);
  Md5Hash alone;
  for (int i = 0; i < 513; ++i) {
    std::vector<Md5Hash::Update> updates;
    for (Md5Hash& hash : hashes) updates.push_back({&hash, part});
    Md5Hash::update_all(updates, GetParam());
    Md5Hash::Update one{&alone, part};
    Md5Hash::update_all({&one, 1}, GetParam());
  }
  const std::string expected = alone.finish();
  for (Md5Hash& hash : hashes) EXPECT_EQ(hash.finish(), expected);
}

}  // namespace
}  // namespace kyanite::transfer
