#include "transfer/md5_hash.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace kyanite::transfer {

namespace {

using Md5Words = uint32_t[4];

// RFC 1321: the integer part of 4294967296 times abs(sin(i)), i in radians from 1 on.
constexpr uint32_t kSines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

template <int kRound>
constexpr size_t word_of(int step) {
  constexpr int kFactor[] = {1, 5, 3, 7};
  constexpr int kFirst[] = {0, 1, 5, 0};
  return static_cast<size_t>((step * kFactor[kRound] + kFirst[kRound]) % 16);
}

template <int kStep>
[[gnu::always_inline]] inline void md5_step(Md5Words& words, const char* block) {
  constexpr int kRound = kStep / 16;
  uint32_t& a = words[(64 - kStep) % 4];
  const uint32_t b = words[(65 - kStep) % 4];
  const uint32_t c = words[(66 - kStep) % 4];
  const uint32_t d = words[(67 - kStep) % 4];
  uint32_t word;
  std::memcpy(&word, block + word_of<kRound>(kStep) * sizeof word, sizeof word);
  a += word + kSines[kStep];
  // As sums, of which the parts without b, which comes last, are ready before.
  if constexpr (kRound == 0) {
    a += (d & ~b) + (b & c);
  } else if constexpr (kRound == 1) {
    a += (c & ~d) + (b & d);
  } else if constexpr (kRound == 2) {
    a += (c ^ d) ^ b;
  } else {
    a += c ^ (b | ~d);
  }
  a = std::rotl(a, kTurns[kRound][kStep % 4]) + b;
}

// Whole blocks of two bodies, step by step in turns.
template <int... kSteps>
void hash_both(Md5Words& one, const char* block, Md5Words& other, const char* other_block,
               size_t blocks, std::integer_sequence<int, kSteps...>) {
  for (; blocks > 0; --blocks) {
    const Md5Words one_before = {one[0], one[1], one[2], one[3]};
    const Md5Words other_before = {other[0], other[1], other[2], other[3]};
    ((md5_step<kSteps>(one, block), md5_step<kSteps>(other, other_block)), ...);
    for (size_t i = 0; i < 4; ++i) {
      one[i] += one_before[i];
      other[i] += other_before[i];
    }
    block += MD5_CBLOCK;
    other_block += MD5_CBLOCK;
  }
}

}  // namespace

// The state is OpenSSL's, which hashes single bodies: by MD5_CTX it can be seen, by EVP it cannot.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
Md5Hash::Md5Hash() { CHECK(MD5_Init(&state_) == 1); }

void Md5Hash::update(std::string_view bytes) {
  CHECK(MD5_Update(&state_, bytes.data(), bytes.size()) == 1);
}

std::string Md5Hash::finish() {
  std::string digest(MD5_DIGEST_LENGTH, '\0');
  CHECK(MD5_Final(reinterpret_cast<unsigned char*>(digest.data()), &state_) == 1);
  return digest;
}
#pragma GCC diagnostic pop

// It is counted in bits.
void Md5Hash::add_length(size_t bytes) {
  const uint64_t bits = (uint64_t{state_.Nh} << 32 | state_.Nl) + uint64_t{bytes} * 8;
  state_.Nl = static_cast<uint32_t>(bits);
  state_.Nh = static_cast<uint32_t>(bits >> 32);
}

void Md5Hash::update_both(Md5Hash& one, std::string_view bytes, Md5Hash& other,
                          std::string_view other_bytes) {
  CHECK(&one != &other);
  const auto fill_block = [](Md5Hash& md5, std::string_view& rest) {
    const size_t count = std::min(md5.missing(), rest.size());
    md5.update(rest.substr(0, count));
    rest.remove_prefix(count);
  };
  fill_block(one, bytes);
  fill_block(other, other_bytes);
  const size_t blocks = std::min(bytes.size(), other_bytes.size()) / MD5_CBLOCK;
  if (blocks > 0 && one.missing() == 0 && other.missing() == 0) {
    Md5Words words = {one.state_.A, one.state_.B, one.state_.C, one.state_.D};
    Md5Words others = {other.state_.A, other.state_.B, other.state_.C, other.state_.D};
    hash_both(words, bytes.data(), others, other_bytes.data(), blocks,
              std::make_integer_sequence<int, 64>());
    const auto put_back = [&](Md5Hash& md5, const Md5Words& now, std::string_view& rest) {
      md5.state_.A = now[0];
      md5.state_.B = now[1];
      md5.state_.C = now[2];
      md5.state_.D = now[3];
      md5.add_length(blocks * MD5_CBLOCK);
      rest.remove_prefix(blocks * MD5_CBLOCK);
    };
    put_back(one, words, bytes);
    put_back(other, others, other_bytes);
  }
  one.update(bytes);
  other.update(other_bytes);
}

}  // namespace kyanite::transfer
