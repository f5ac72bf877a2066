#include "smb/wide_gcm.h"

#include "base/check.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <openssl/crypto.h>

// GCC 12 takes these functions' values that do not matter for values that were forgotten.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <cstdint>
#include <cstring>

#define KYANITE_WIDE \
  __attribute__((target("aes,pclmul,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl")))
#define KYANITE_WIDE_INLINE [[gnu::always_inline]] KYANITE_WIDE inline

namespace kyanite::smb {

namespace {

constexpr size_t kBlock = WideGcm::kBlockBytes;
constexpr size_t kLeastRounds = 10;  // Of keys of 16 bytes.
constexpr size_t kMostRounds = 14;   // Of 32.
// A register has four blocks. So many registers are on their way through the rounds at once.
constexpr size_t kLanes = 4;
constexpr size_t kRegisters = 8;
constexpr size_t kBlocksAtOnce = kLanes * kRegisters;
constexpr size_t kBytesAtOnce = kBlocksAtOnce * kBlock;

KYANITE_WIDE_INLINE __m128i load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
KYANITE_WIDE_INLINE void store(void* to, __m128i value) {
  _mm_storeu_si128(static_cast<__m128i*>(to), value);
}

// Of a 128-bit word, or of each in a register, the bytes from the last to the first. GCM's numbers
// have their first bit first.
KYANITE_WIDE_INLINE __m128i turned(__m128i block) {
  return _mm_shuffle_epi8(block,
                          _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
KYANITE_WIDE_INLINE __m512i turned(__m512i blocks) {
  return _mm512_shuffle_epi8(blocks, _mm512_broadcast_i32x4(_mm_set_epi8(
                                         0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
}

// A product of polynomials before it is reduced, or a sum of products.
struct Product {
  __m512i low;
  __m512i middle;  // Belongs half to each of the others.
  __m512i high;
};

KYANITE_WIDE_INLINE void add_product(Product& sum, __m512i one, __m512i other) {
  constexpr int kXor3 = 0x96;
  sum.low = _mm512_xor_si512(sum.low, _mm512_clmulepi64_epi128(one, other, 0x00));
  sum.middle = _mm512_ternarylogic_epi64(sum.middle, _mm512_clmulepi64_epi128(one, other, 0x01),
                                         _mm512_clmulepi64_epi128(one, other, 0x10), kXor3);
  sum.high = _mm512_xor_si512(sum.high, _mm512_clmulepi64_epi128(one, other, 0x11));
}

// The four blocks of a register added up.
KYANITE_WIDE_INLINE __m128i sum_of(__m512i lanes) {
  const __m256i half =
      _mm256_xor_si256(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
  return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

// Modulo x^128 + x^7 + x^2 + x + 1, whose bits are in the opposite order here: twice the lowest 64
// bits are folded into those above them.
KYANITE_WIDE_INLINE __m128i reduced(const Product& product) {
  const __m128i polynomial = _mm_set1_epi64x(static_cast<int64_t>(0xc200000000000000));
  const __m128i middle = sum_of(product.middle);
  __m128i low = _mm_xor_si128(sum_of(product.low), _mm_slli_si128(middle, 8));
  const __m128i high = _mm_xor_si128(sum_of(product.high), _mm_srli_si128(middle, 8));
  for (int fold = 0; fold < 2; ++fold) {
    low = _mm_xor_si128(_mm_shuffle_epi32(low, 0x4e), _mm_clmulepi64_si128(low, polynomial, 0x00));
  }
  return _mm_xor_si128(high, low);
}

KYANITE_WIDE_INLINE __m128i product_of(__m128i one, __m128i other) {
  Product product{};
  add_product(product, _mm512_zextsi128_si512(one), _mm512_zextsi128_si512(other));
  return reduced(product);
}

// Times x, which a product by carry-less multiplication lacks in this order of bits.
KYANITE_WIDE_INLINE __m128i shifted(__m128i value) {
  const __m128i carried = _mm_srli_epi64(value, 63);
  const __m128i doubled = _mm_or_si128(_mm_slli_epi64(value, 1), _mm_slli_si128(carried, 8));
  // All bits of a mask are the one that was shifted out.
  const __m128i out = _mm_sub_epi64(_mm_setzero_si128(), _mm_unpackhi_epi64(carried, carried));
  const __m128i polynomial = _mm_set_epi64x(static_cast<int64_t>(0xc200000000000000), 1);
  return _mm_xor_si128(doubled, _mm_and_si128(out, polynomial));
}

// FIPS 197: each word of the key is the one of a key before it and the word before it, which for
// some words is substituted first.
KYANITE_WIDE_INLINE __m128i next_key(__m128i before, __m128i substituted) {
  before = _mm_xor_si128(before, _mm_slli_si128(before, 4));
  before = _mm_xor_si128(before, _mm_slli_si128(before, 8));
  return _mm_xor_si128(before, substituted);
}
template <int kConstant>
KYANITE_WIDE_INLINE __m128i next_key_of_128(__m128i before) {
  return next_key(before, _mm_shuffle_epi32(_mm_aeskeygenassist_si128(before, kConstant), 0xff));
}
template <int kConstant>
KYANITE_WIDE_INLINE __m128i next_even_key(__m128i even, __m128i odd) {
  return next_key(even, _mm_shuffle_epi32(_mm_aeskeygenassist_si128(odd, kConstant), 0xff));
}
// Behind two keys the next two.
template <int kConstant>
KYANITE_WIDE_INLINE void next_keys_of_256(__m128i* keys) {
  keys[2] = next_even_key<kConstant>(keys[0], keys[1]);
  keys[3] = next_key(keys[1], _mm_shuffle_epi32(_mm_aeskeygenassist_si128(keys[2], 0), 0xaa));
}

KYANITE_WIDE void expand_128(const unsigned char* key, __m128i* keys) {
  keys[0] = load(key);
  keys[1] = next_key_of_128<0x01>(keys[0]);
  keys[2] = next_key_of_128<0x02>(keys[1]);
  keys[3] = next_key_of_128<0x04>(keys[2]);
  keys[4] = next_key_of_128<0x08>(keys[3]);
  keys[5] = next_key_of_128<0x10>(keys[4]);
  keys[6] = next_key_of_128<0x20>(keys[5]);
  keys[7] = next_key_of_128<0x40>(keys[6]);
  keys[8] = next_key_of_128<0x80>(keys[7]);
  keys[9] = next_key_of_128<0x1b>(keys[8]);
  keys[10] = next_key_of_128<0x36>(keys[9]);
}
KYANITE_WIDE void expand_256(const unsigned char* key, __m128i* keys) {
  keys[0] = load(key);
  keys[1] = load(key + kBlock);
  next_keys_of_256<0x01>(keys);
  next_keys_of_256<0x02>(keys + 2);
  next_keys_of_256<0x04>(keys + 4);
  next_keys_of_256<0x08>(keys + 6);
  next_keys_of_256<0x10>(keys + 8);
  next_keys_of_256<0x20>(keys + 10);
  keys[14] = next_even_key<0x40>(keys[12], keys[13]);
}

// So many blocks of a register, whose mask is of words of 64 bits.
__mmask8 mask_of(size_t blocks) { return static_cast<__mmask8>((1u << 2 * blocks) - 1); }

}  // namespace

struct alignas(64) WideGcm::State {
  __m128i keys[kMostRounds + 1];
  // The hash's key to the power of kBlocksAtOnce and so on to the first, and behind them zeros,
  // which are loaded with the last of them.
  __m128i powers[kBlocksAtOnce + kLanes - 1];
  __m128i hash;
  __m128i counter;   // Of the next block, turned.
  __m128i tag_mask;  // The encrypted block of the nonce alone.
  // Of a block that began, the bytes that are there, the others zero; and its key stream.
  Block begun;
  Block stream;
  size_t begun_bytes;
  uint64_t authenticated;
  uint64_t encrypted;
  size_t rounds;

  KYANITE_WIDE explicit State(const SecretKey& key);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { OPENSSL_cleanse(this, sizeof *this); }

  KYANITE_WIDE void begin(const char* nonce);
  // Hashes the block that began, if one did. What is missing of it is zero.
  KYANITE_WIDE void end_block();
  KYANITE_WIDE void hash_blocks(const char* from, size_t blocks);
  template <bool kEncrypts>
  void crypt_blocks(const char* from, char* to, size_t blocks) {
    if (rounds == kMostRounds) return crypt_blocks<kMostRounds, kEncrypts>(from, to, blocks);
    crypt_blocks<kLeastRounds, kEncrypts>(from, to, blocks);
  }
  // How many bytes of a piece belong to the block that began.
  size_t missing(size_t count) const {
    return begun_bytes == 0 ? 0 : std::min(count, kBlock - begun_bytes);
  }
  template <bool kEncrypts>
  void crypt_bytes(const char* from, char* to, size_t count);
  KYANITE_WIDE void begin_stream();
  KYANITE_WIDE Block tag();

 private:
  // In every lane.
  KYANITE_WIDE_INLINE __m512i key(size_t round) const {
    return _mm512_broadcast_i32x4(keys[round]);
  }
  template <size_t kRounds>
  KYANITE_WIDE_INLINE __m512i encrypted_lanes(__m512i blocks) const {
    blocks = _mm512_xor_si512(blocks, key(0));
#pragma GCC unroll 16
    for (size_t round = 1; round < kRounds; ++round)
      blocks = _mm512_aesenc_epi128(blocks, key(round));
    return _mm512_aesenclast_epi128(blocks, key(kRounds));
  }
  KYANITE_WIDE_INLINE __m128i encrypted_block(__m128i block) const {
    const __m512i lanes = _mm512_zextsi128_si512(block);
    return _mm512_castsi512_si128(rounds == kMostRounds ? encrypted_lanes<kMostRounds>(lanes)
                                                        : encrypted_lanes<kLeastRounds>(lanes));
  }
  // For the first of so many blocks and those in the lanes behind it.
  KYANITE_WIDE_INLINE __m512i powers_for(size_t blocks) const {
    return _mm512_loadu_si512(powers + (kBlocksAtOnce - blocks));
  }
  // One of the registers that blocks are hashed in at once.
  KYANITE_WIDE_INLINE void add_register(Product& product, const char* from, size_t i) const {
    __m512i lanes = turned(_mm512_loadu_si512(from + i * sizeof(__m512i)));
    if (i == 0) lanes = _mm512_xor_si512(lanes, _mm512_zextsi128_si512(hash));
    add_product(product, lanes, powers_for(kBlocksAtOnce - i * kLanes));
  }
  // At most four blocks.
  KYANITE_WIDE_INLINE void hash_lanes(__m512i lanes, size_t blocks) {
    Product product{};
    add_product(product, _mm512_xor_si512(turned(lanes), _mm512_zextsi128_si512(hash)),
                powers_for(blocks));
    hash = reduced(product);
  }
  // All rounds but the last, in turns with hashing.
  template <size_t kRounds, bool kHashes>
  KYANITE_WIDE_INLINE void pass_rounds(__m512i (&lanes)[kRegisters], const char* hashed) {
    Product product{};
#pragma GCC unroll 16
    for (size_t round = 1; round < kRounds; ++round) {
#pragma GCC unroll 16
      for (auto& each : lanes) each = _mm512_aesenc_epi128(each, key(round));
      if (kHashes && round <= kRegisters) add_register(product, hashed, round - 1);
    }
    if (kHashes) hash = reduced(product);
  }
  template <size_t kRounds, bool kEncrypts>
  KYANITE_WIDE void crypt_blocks(const char* from, char* to, size_t blocks);
};

WideGcm::State::State(const SecretKey& key) {
  std::memset(static_cast<void*>(this), 0, sizeof *this);
  CHECK(key.size() == 16 || key.size() == 32);
  rounds = key.size() == 16 ? kLeastRounds : kMostRounds;
  if (rounds == kLeastRounds) {
    expand_128(key.data(), keys);
  } else {
    expand_256(key.data(), keys);
  }
  const __m128i first = shifted(turned(encrypted_block(_mm_setzero_si128())));
  powers[kBlocksAtOnce - 1] = first;
  for (size_t i = kBlocksAtOnce - 1; i > 0; --i) powers[i - 1] = product_of(powers[i], first);
}

void WideGcm::State::begin(const char* nonce) {
  alignas(kBlock) char block[kBlock] = {};
  std::memcpy(block, nonce, kNonceBytes);
  block[kBlock - 1] = 1;
  const __m128i own = load(block);
  tag_mask = encrypted_block(own);
  counter = _mm_add_epi32(turned(own), _mm_set_epi32(0, 0, 0, 1));
  hash = _mm_setzero_si128();
  begun = {};
  begun_bytes = 0;
  authenticated = 0;
  encrypted = 0;
}

void WideGcm::State::end_block() {
  if (begun_bytes == 0) return;
  hash_lanes(_mm512_zextsi128_si512(load(begun.data())), 1);
  begun = {};
  begun_bytes = 0;
}

void WideGcm::State::begin_stream() {
  store(stream.data(), encrypted_block(turned(counter)));
  counter = _mm_add_epi32(counter, _mm_set_epi32(0, 0, 0, 1));
}

void WideGcm::State::hash_blocks(const char* from, size_t blocks) {
  for (; blocks >= kBlocksAtOnce; blocks -= kBlocksAtOnce) {
    Product product{};
#pragma GCC unroll 16
    for (size_t i = 0; i < kRegisters; ++i) add_register(product, from, i);
    hash = reduced(product);
    from += kBytesAtOnce;
  }
  while (blocks > 0) {
    const size_t some = std::min(blocks, kLanes);
    hash_lanes(_mm512_maskz_loadu_epi64(mask_of(some), from), some);
    from += some * kBlock;
    blocks -= some;
  }
}

template <size_t kRounds, bool kEncrypts>
void WideGcm::State::crypt_blocks(const char* from, char* to, size_t blocks) {
  const __m512i step = _mm512_broadcast_i32x4(_mm_set_epi32(0, 0, 0, kLanes));
  __m512i counters =
      _mm512_add_epi32(_mm512_broadcast_i32x4(counter),
                       _mm512_set_epi32(0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0));
  // While blocks pass the rounds others are hashed: what is encrypted has to wait for the next.
  const char* hashed = kEncrypts ? nullptr : from;
  for (; blocks >= kBlocksAtOnce; blocks -= kBlocksAtOnce) {
    __m512i lanes[kRegisters];
#pragma GCC unroll 16
    for (auto& each : lanes) {
      each = _mm512_xor_si512(turned(counters), key(0));
      counters = _mm512_add_epi32(counters, step);
    }
    if (hashed == nullptr) {
      pass_rounds<kRounds, false>(lanes, nullptr);
    } else {
      pass_rounds<kRounds, true>(lanes, hashed);
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < kRegisters; ++i) {
      const __m512i source = _mm512_loadu_si512(from + i * sizeof(__m512i));
      const __m512i result =
          _mm512_aesenclast_epi128(lanes[i], _mm512_xor_si512(key(kRounds), source));
      _mm512_storeu_si512(to + i * sizeof(__m512i), result);
    }
    hashed = kEncrypts ? to : from + kBytesAtOnce;
    from += kBytesAtOnce;
    to += kBytesAtOnce;
  }
  if (kEncrypts && hashed != nullptr) hash_blocks(hashed, kBlocksAtOnce);
  size_t last = 0;
  while (blocks > 0) {
    last = std::min(blocks, kLanes);
    const __mmask8 mask = mask_of(last);
    const __m512i source = _mm512_maskz_loadu_epi64(mask, from);
    const __m512i result =
        _mm512_maskz_xor_epi64(mask, source, encrypted_lanes<kRounds>(turned(counters)));
    _mm512_mask_storeu_epi64(to, mask, result);
    hash_lanes(kEncrypts ? result : source, last);
    if (last < kLanes) break;
    counters = _mm512_add_epi32(counters, step);
    last = 0;
    from += kLanes * kBlock;
    to += kLanes * kBlock;
    blocks -= kLanes;
  }
  counter = _mm_add_epi32(_mm512_castsi512_si128(counters),
                          _mm_set_epi32(0, 0, 0, static_cast<int>(last)));
}

template <bool kEncrypts>
void WideGcm::State::crypt_bytes(const char* from, char* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const auto source = static_cast<unsigned char>(from[i]);
    const auto result = static_cast<unsigned char>(source ^ stream[begun_bytes]);
    to[i] = static_cast<char>(result);
    begun[begun_bytes++] = kEncrypts ? result : source;
  }
}

WideGcm::Block WideGcm::State::tag() {
  end_block();
  const __m128i lengths =
      _mm_set_epi64x(static_cast<int64_t>(authenticated * 8), static_cast<int64_t>(encrypted * 8));
  hash_lanes(_mm512_zextsi128_si512(turned(lengths)), 1);
  Block result;
  store(result.data(), _mm_xor_si128(turned(hash), tag_mask));
  return result;
}

bool WideGcm::is_supported() {
  static const bool has = [] {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    constexpr unsigned kVaes = 1u << 9;
    constexpr unsigned kVpclmulqdq = 1u << 10;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) == 1 && (c & kVaes) != 0 &&
           (c & kVpclmulqdq) != 0 && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }();
  return has;
}

WideGcm::WideGcm(const SecretKey& key) : state_(std::make_unique<State>(key)) {}

void WideGcm::begin(const char* nonce) { state_->begin(nonce); }

void WideGcm::authenticate(std::string_view bytes) {
  State& state = *state_;
  CHECK(state.encrypted == 0);
  state.authenticated += bytes.size();
  const auto keep = [&state](std::string_view part) {
    std::copy(part.begin(), part.end(),
              state.begun.begin() + static_cast<ptrdiff_t>(state.begun_bytes));
    state.begun_bytes += part.size();
  };
  if (const size_t missing = state.missing(bytes.size()); missing > 0) {
    keep(bytes.substr(0, missing));
    bytes.remove_prefix(missing);
    if (state.begun_bytes < kBlock) return;
    state.end_block();
  }
  state.hash_blocks(bytes.data(), bytes.size() / kBlock);
  keep(bytes.substr(bytes.size() / kBlock * kBlock));
}

template <bool kEncrypts>
void WideGcm::crypt(const char* from, char* to, size_t count) {
  State& state = *state_;
  if (state.encrypted == 0) state.end_block();  // Of what is authenticated only.
  state.encrypted += count;
  if (const size_t missing = state.missing(count); missing > 0) {
    state.crypt_bytes<kEncrypts>(from, to, missing);
    from += missing;
    to += missing;
    count -= missing;
    if (state.begun_bytes < kBlock) return;
    state.end_block();
  }
  const size_t whole = count / kBlock * kBlock;
  state.crypt_blocks<kEncrypts>(from, to, whole / kBlock);
  if (whole == count) return;
  state.begin_stream();
  state.crypt_bytes<kEncrypts>(from + whole, to + whole, count - whole);
}

void WideGcm::encrypt(const char* from, char* to, size_t count) { crypt<true>(from, to, count); }
void WideGcm::decrypt(const char* from, char* to, size_t count) { crypt<false>(from, to, count); }
WideGcm::Block WideGcm::tag() { return state_->tag(); }

}  // namespace kyanite::smb

#undef KYANITE_WIDE_INLINE
#undef KYANITE_WIDE

#else

namespace kyanite::smb {

struct WideGcm::State {};

bool WideGcm::is_supported() { return false; }
WideGcm::WideGcm(const SecretKey&) { CHECK(is_supported()); }
void WideGcm::begin(const char*) {}
void WideGcm::authenticate(std::string_view) {}
void WideGcm::encrypt(const char*, char*, size_t) {}
void WideGcm::decrypt(const char*, char*, size_t) {}
WideGcm::Block WideGcm::tag() { return {}; }

}  // namespace kyanite::smb

#endif

namespace kyanite::smb {

WideGcm::WideGcm(WideGcm&&) noexcept = default;
WideGcm& WideGcm::operator=(WideGcm&&) noexcept = default;
WideGcm::~WideGcm() = default;

}  // namespace kyanite::smb
