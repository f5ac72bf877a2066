#include "wire/crc64.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/bytes.h"

namespace kyanite::wire {

namespace {
constexpr uint64_t kPolynomial = 0x9A6C9329AC4BC9B5;

// kTables[k][b]: the CRC of byte b followed by k zero bytes.
using Tables = std::array<std::array<uint64_t, 256>, 8>;
constexpr Tables make_tables() {
  Tables tables{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint64_t before = tables[k - 1][byte];
      tables[k][byte] = tables[0][before & 0xff] ^ (before >> 8);
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

uint64_t by_table(uint64_t state, const char* at, size_t left) {
  while (left >= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    word ^= state;
    state = kTables[7][word & 0xff] ^ kTables[6][word >> 8 & 0xff] ^ kTables[5][word >> 16 & 0xff] ^
            kTables[4][word >> 24 & 0xff] ^ kTables[3][word >> 32 & 0xff] ^
            kTables[2][word >> 40 & 0xff] ^ kTables[1][word >> 48 & 0xff] ^ kTables[0][word >> 56];
    at += 8;
    left -= 8;
  }
  for (; left > 0; --left)
    state = kTables[0][(state ^ static_cast<unsigned char>(*at++)) & 0xff] ^ (state >> 8);
  return state;
}

#if defined(__x86_64__)

// Folding with carry-less multiplication.
//
// Sixteen bytes of the message, loaded as they lie, are a polynomial of degree 127 with its
// coefficients reflected: bit i stands for x^(127-i), so the low half H is worth H*x^64 and the
// high half L just L. Moving the block d bits towards the end of the message multiplies it by x^d,
// and modulo P, the polynomial of the CRC,
//
//   (H*x^64 + L) * x^d  ==  H * (x^(d+64) mod P) + L * (x^d mod P)
//
// which is again at most 128 bits long: two multiplications replace the block and are added (xor)
// to the one that is d bits further on. Because the product of two reflected 64-bit polynomials
// comes out one bit short of the reflected 128-bit form, that is multiplied by x, the factors below
// carry one power of x less.
//
// At the end one block is left that is worth the whole message; the table finishes it.
constexpr uint64_t power_of_x(int exponent) {  // x^exponent mod P, reflected
  uint64_t value = uint64_t{1} << 63;          // x^0
  for (; exponent > 0; --exponent) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
  return value;
}

constexpr size_t kBlock = 16;
constexpr size_t kLanes = 8;  // Blocks in flight, enough to hide the latency of a multiplication.
constexpr size_t kStride = kLanes * kBlock;

struct Factors {
  uint64_t high;  // for H
  uint64_t low;   // for L
};
constexpr Factors factors_for(size_t bytes) {
  const int distance = static_cast<int>(bytes * 8);
  return {power_of_x(distance + 64 - 1), power_of_x(distance - 1)};
}
constexpr Factors kByStride = factors_for(kStride);
constexpr Factors kByBlock = factors_for(kBlock);

#define KYANITE_PCLMUL __attribute__((target("pclmul,avx")))

KYANITE_PCLMUL inline __m128i load(const void* at) {
  return _mm_loadu_si128(static_cast<const __m128i*>(at));
}

KYANITE_PCLMUL inline __m128i load(const Factors& factors) {
  return _mm_set_epi64x(static_cast<long long>(factors.low), static_cast<long long>(factors.high));
}

// The block moved on by the distance of the factors, plus what is there.
KYANITE_PCLMUL inline __m128i fold(__m128i block, __m128i factors, __m128i there) {
  const __m128i high = _mm_clmulepi64_si128(block, factors, 0x00);
  const __m128i low = _mm_clmulepi64_si128(block, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(high, low), there);
}

// At least kStride bytes.
KYANITE_PCLMUL uint64_t by_folding(uint64_t state, const char* at, size_t left) {
  __m128i lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = load(at + i * kBlock);
  // What came before is added to the first eight bytes, as in every step of a CRC.
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi64_si128(static_cast<long long>(state)));
  at += kStride;
  left -= kStride;
  const __m128i by_stride = load(kByStride);
  for (; left >= kStride; at += kStride, left -= kStride) {
    // Unrolled, so that the lanes stay in registers.
#pragma GCC unroll kLanes
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = fold(lanes[i], by_stride, load(at + i * kBlock));
  }
  const __m128i by_block = load(kByBlock);
  __m128i block = lanes[0];
  for (size_t i = 1; i < kLanes; ++i) block = fold(block, by_block, lanes[i]);
  for (; left >= kBlock; at += kBlock, left -= kBlock) block = fold(block, by_block, load(at));
  char bytes[kBlock];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), block);
  return by_table(by_table(0, bytes, kBlock), at, left);
}

bool can_fold(size_t size) {
  static const bool supported =
      __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("avx") != 0;
  return supported && size >= kStride;
}

#else

bool can_fold(size_t) { return false; }
uint64_t by_folding(uint64_t state, const char* at, size_t left) {
  return by_table(state, at, left);
}

#endif
}  // namespace

uint64_t crc64(uint64_t crc, std::string_view bytes) {
  const auto run = can_fold(bytes.size()) ? by_folding : by_table;
  return ~run(~crc, bytes.data(), bytes.size());
}

namespace {
// The product modulo P of two reflected polynomials.
uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  for (; a != 0; a <<= 1) {
    if ((a >> 63) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? kPolynomial : 0);  // times x
  }
  return product;
}
}  // namespace

// A zero byte multiplies the state by x^8.
uint64_t crc64_zeros(uint64_t crc, uint64_t count) {
  uint64_t state = ~crc;
  uint64_t power = uint64_t{1} << (63 - 8);  // x^8, then its square, the square of that...
  for (; count > 0; count >>= 1) {
    if ((count & 1) != 0) state = multiply(state, power);
    power = multiply(power, power);
  }
  return ~state;
}

std::string crc64_text(uint64_t crc) {
  char bytes[8];
  std::memcpy(bytes, &crc, 8);
  return base64(std::string_view(bytes, 8));
}

}  // namespace kyanite::wire
