#include "content/cipher.h"

#include <gtest/gtest.h>

#include <set>

#include "base/bytes.h"
#include "content/test_support.h"

namespace kyanite::content {
namespace {

class Sealed : public ::testing::Test {
 protected:
  CipherPtr cipher(char fill) {
    return std::make_shared<const Cipher>(std::string(Cipher::kKeyBytes, fill), workers_);
  }
  std::string apply(const Cipher& with, const Seal& seal, std::string bytes) {
    RunLoop::run(with.apply(seal, bytes.data(), bytes.size()));
    return bytes;
  }

  Workers workers_{1};
};

TEST_F(Sealed, IsAesInCounterMode) {
  // The first vector for AES-256 in counter mode of RFC 3686 (its nonce and IV are our nonce, and
  // its first block has number 1).
  const Cipher with(*unhex("776beff2851db06f4c8a0542c8696f6c6a81af1eec96b4d37fc1d689e6c1c104"),
                    workers_);
  Seal seal;
  const std::string nonce = *unhex("00000060db5672c97aa8f0b2");
  std::copy(nonce.begin(), nonce.end(), seal.nonce.begin());
  seal.skip = 16;
  EXPECT_EQ(hex(apply(with, seal, "Single block msg")), "145ad01dbf824ec7560863dc71e3e0c0");
}

TEST_F(Sealed, AnyPartCanBeReadByItself) {
  const auto with = cipher('k');
  const std::string plain = pattern(kChunkBytes, 1);
  const Seal seal = new_seal();
  const std::string sealed = apply(*with, seal, plain);
  EXPECT_NE(sealed, plain);
  for (size_t from : {0, 1, 15, 16, 17, 4096, 100'001}) {
    for (size_t count : {1, 15, 16, 17, 20'000}) {
      Seal inside = seal;
      inside.skip += static_cast<uint32_t>(from);
      EXPECT_EQ(apply(*with, inside, sealed.substr(from, count)), plain.substr(from, count));
    }
  }
}

TEST_F(Sealed, NoncesAreNeverUsedAgain) {
  std::set<std::array<char, 12>> nonces;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(nonces.insert(new_seal().nonce).second);
}

TEST_F(Sealed, ContentIsStoredEncryptedAndReadWithItsKey) {
  for (size_t size : {size_t{1}, kInlineBytes, kInlineBytes + 1, 2 * kChunkBytes + 5}) {
    SCOPED_TRACE(size);
    Object object;
    const std::string plain = pattern(size, size);
    std::vector<std::string> chunks;
    for (size_t at = 0; at < size; at += kChunkBytes)
      chunks.push_back(plain.substr(at, kChunkBytes));
    const Pieces pieces = write(object.store, chunks, cipher('k'));
    std::string stored;
    for (const auto& piece : pieces) {
      ASSERT_TRUE(piece.seal);
      stored += piece.ref ? store::text_of(*RunLoop::run(
                                object.store.read_run(*piece.ref, 0, piece.length, false)))
                          : piece.inline_bytes;
    }
    EXPECT_EQ(stored.size(), plain.size());
    EXPECT_NE(stored, plain);

    object.save(pieces);
    object.cipher = cipher('k');
    EXPECT_EQ(object.read(), plain);
    EXPECT_FALSE((*object.open(0, size))->whole());
    const size_t from = size / 3;
    const size_t count = std::min<size_t>(66, size - from);
    EXPECT_EQ(object.read(from, count), plain.substr(from, count));
    object.cipher = cipher('x');
    EXPECT_NE(object.read(), plain);
    object.cipher = nullptr;  // Whoever forgets the cipher gets nothing, least of all ciphertext.
    const auto bytes = drain(**object.open(0, size));
    ASSERT_FALSE(bytes.ok());
    EXPECT_EQ(bytes.error(), store::Error::kCorrupt);
  }
}

TEST_F(Sealed, PagesWrittenOverEachOtherShareNoKeystream) {
  Object object;
  object.cipher = cipher('k');
  object.save_sparse(kGridBytes);
  const std::string plain(512, 'p');
  std::set<std::string> seen;
  for (int i = 0; i < 10; ++i) {
    const Pieces pieces = write(object.store, {plain}, cipher('k'));
    EXPECT_TRUE(seen.insert(pieces.front().inline_bytes).second);
    object.overwrite(0, plain.size(), pieces);
    EXPECT_EQ(object.read(0, plain.size()), plain);
  }
}

// Writes over parts of pieces and beside them until some move to runs.
TEST_F(Sealed, SparseContentBehavesLikeAnArrayOfBytes) {
  Object object;
  object.cipher = cipher('k');
  object.save_sparse(kGridBytes);
  std::string model(kGridBytes, '\0');
  uint64_t seed = 7;
  const auto below = [&](uint64_t limit) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % limit;
  };
  for (int step = 0; step < 200; ++step) {
    const uint64_t at = below(30'000);
    const std::string plain = pattern(1 + below(3000), static_cast<uint64_t>(step));
    Pieces pieces = write(object.store, {plain}, cipher('k'));
    for (auto& piece : pieces) piece.offset += at;
    object.overwrite(at, plain.size(), pieces);
    model.replace(at, plain.size(), plain);
    ASSERT_EQ(object.read(0, 40'000), model.substr(0, 40'000)) << step;
  }
}

TEST_F(Sealed, PiecesRoundTripAndDamagedSealsAreRefused) {
  store::MemoryStore store;
  Pieces pieces = write(store, {"small"}, cipher('k'));
  const Pieces large = write(store, {pattern(kInlineBytes + 1, 1)}, cipher('k'));
  pieces.push_back(large.front().part(100, 200));
  pieces.back().offset = pieces.front().end();
  store::Record record;
  encode_pieces(pieces, record);
  const auto decoded = decode_pieces(record);
  ASSERT_TRUE(decoded);
  ASSERT_EQ(decoded->size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*decoded)[i].seal, pieces[i].seal);
    EXPECT_EQ((*decoded)[i].skip, pieces[i].skip);
    EXPECT_EQ((*decoded)[i].inline_bytes, pieces[i].inline_bytes);
  }
  const std::string nonce(12, 'n');
  const store::Record cases[] = {
      {std::string("\x01\x00\x04\x01", 4) + "short", {}},       // cut within the nonce
      {std::string("\x01\x00\x04\x01", 4) + nonce, {}},         // no position
      {std::string("\x01\x00\x04\x01", 4) + nonce + '\0', {}},  // no bytes
      {std::string("\x01\x00\x06\x01", 4) + nonce + '\0', {}},  // sealed zeros
      {std::string("\x01\x00\x04\x00", 4) + nonce + '\0', {}},  // nothing, sealed
      {std::string("\x01\x00\x04\x01", 4) + nonce + std::string("\xff\xff\xff\xff\x0f", 5) + "a",
       {}},  // beyond the keystream
  };
  for (size_t i = 0; i < std::size(cases); ++i) EXPECT_FALSE(decode_pieces(cases[i])) << i;
}

}  // namespace
}  // namespace kyanite::content
