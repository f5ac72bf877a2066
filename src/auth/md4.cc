#include "auth/md4.h"

#include <openssl/crypto.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace kyanite::auth {

namespace {
constexpr size_t kBlockBytes = 64;
constexpr size_t kLengthBytes = 8;

using State = std::array<uint32_t, 4>;

// A round: how three words are mixed, what is added, in which order the words of the block are
// taken and by how much is rotated.
struct Round {
  uint32_t (*mix)(uint32_t x, uint32_t y, uint32_t z);
  uint32_t added;
  std::array<uint8_t, 16> order;
  std::array<int, 4> rotations;
};

constexpr Round kRounds[] = {
    {[](uint32_t x, uint32_t y, uint32_t z) { return (x & y) | (~x & z); },
     0,
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
     {3, 7, 11, 19}},
    {[](uint32_t x, uint32_t y, uint32_t z) { return (x & y) | (x & z) | (y & z); },
     0x5a827999,
     {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15},
     {3, 5, 9, 13}},
    {[](uint32_t x, uint32_t y, uint32_t z) { return x ^ y ^ z; },
     0x6ed9eba1,
     {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15},
     {3, 9, 11, 15}},
};

void add_block(State& state, const char* block) {
  State s = state;
  for (const Round& round : kRounds) {
    for (size_t i = 0; i < round.order.size(); ++i) {
      // The four words take turns in being changed: first, fourth, third, second.
      const size_t at = (4 - i % 4) % 4;
      const uint32_t mixed = round.mix(s[(at + 1) % 4], s[(at + 2) % 4], s[(at + 3) % 4]);
      const uint32_t word = read_le32(block + 4 * round.order[i]);
      s[at] = std::rotl(s[at] + mixed + word + round.added, round.rotations[i % 4]);
    }
  }
  for (size_t i = 0; i < s.size(); ++i) state[i] += s[i];
}
}  // namespace

std::array<char, 16> md4(std::string_view text) {
  State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const uint64_t bits = uint64_t{text.size()} * 8;
  for (; text.size() >= kBlockBytes; text.remove_prefix(kBlockBytes)) {
    add_block(state, text.data());
  }

  // The rest, a single one bit, zeros, and the length: one block, or two where one is too small.
  std::array<char, 2 * kBlockBytes> last{};
  if (!text.empty()) std::memcpy(last.data(), text.data(), text.size());
  last[text.size()] = static_cast<char>(0x80);
  const size_t end = text.size() + 1 + kLengthBytes <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    last[end - kLengthBytes + i] = static_cast<char>(bits >> (8 * i));
  }
  for (size_t at = 0; at < end; at += kBlockBytes) add_block(state, last.data() + at);
  OPENSSL_cleanse(last.data(), last.size());

  std::array<char, 16> digest;
  for (size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<char>(state[i / 4] >> (8 * (i % 4)));
  }
  return digest;
}

}  // namespace kyanite::auth
