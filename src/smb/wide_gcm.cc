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

#define KYANITE_ONE __attribute__((target("aes,pclmul,avx")))
#define KYANITE_ONE_INLINE [[gnu::always_inline]] KYANITE_ONE inline
#define KYANITE_TWO __attribute__((target("aes,pclmul,vaes,vpclmulqdq,avx2")))
#define KYANITE_TWO_INLINE [[gnu::always_inline]] KYANITE_TWO inline
#define KYANITE_FOUR \
  __attribute__((target("aes,pclmul,vaes,vpclmulqdq,avx2,avx512f,avx512bw,avx512dq,avx512vl")))
#define KYANITE_FOUR_INLINE [[gnu::always_inline]] KYANITE_FOUR inline

namespace kyanite::smb {

namespace {

constexpr size_t kBlock = WideGcm::kBlockBytes;
constexpr size_t kLeastRounds = 10;  // Of keys of 16 bytes.
constexpr size_t kMostRounds = 14;   // Of 32.
constexpr size_t kMostLanes = 4;
// So many registers are on their way through the rounds at once.
constexpr size_t kRegisters = 8;
constexpr size_t kMostBlocksAtOnce = kMostLanes * kRegisters;

// One block.

KYANITE_ONE_INLINE __m128i load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
KYANITE_ONE_INLINE void store(void* to, __m128i value) {
  _mm_storeu_si128(static_cast<__m128i*>(to), value);
}

// The bytes from the last to the first. GCM's numbers have their first bit first.
KYANITE_ONE_INLINE __m128i byte_order() {
  return _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
KYANITE_ONE_INLINE __m128i turned(__m128i block) { return _mm_shuffle_epi8(block, byte_order()); }

// A product of polynomials, or a sum of products, modulo x^128 + x^7 + x^2 + x + 1, whose bits are
// in the opposite order here: twice the lowest 64 bits are folded into those above them. `middle`
// belongs half to each of the others.
KYANITE_ONE_INLINE __m128i reduced(__m128i low, __m128i middle, __m128i high) {
  const __m128i polynomial = _mm_set1_epi64x(static_cast<int64_t>(0xc200000000000000));
  low = _mm_xor_si128(low, _mm_slli_si128(middle, 8));
  high = _mm_xor_si128(high, _mm_srli_si128(middle, 8));
  for (int fold = 0; fold < 2; ++fold) {
    low = _mm_xor_si128(_mm_shuffle_epi32(low, 0x4e), _mm_clmulepi64_si128(low, polynomial, 0x00));
  }
  return _mm_xor_si128(high, low);
}

KYANITE_ONE_INLINE __m128i product_of(__m128i one, __m128i other) {
  const __m128i middle =
      _mm_xor_si128(_mm_clmulepi64_si128(one, other, 0x01), _mm_clmulepi64_si128(one, other, 0x10));
  return reduced(_mm_clmulepi64_si128(one, other, 0x00), middle,
                 _mm_clmulepi64_si128(one, other, 0x11));
}

// Times x, which a product by carry-less multiplication lacks in this order of bits.
KYANITE_ONE_INLINE __m128i shifted(__m128i value) {
  const __m128i carried = _mm_srli_epi64(value, 63);
  const __m128i doubled = _mm_or_si128(_mm_slli_epi64(value, 1), _mm_slli_si128(carried, 8));
  // All bits of a mask are the one that was shifted out.
  const __m128i out = _mm_sub_epi64(_mm_setzero_si128(), _mm_unpackhi_epi64(carried, carried));
  const __m128i polynomial = _mm_set_epi64x(static_cast<int64_t>(0xc200000000000000), 1);
  return _mm_xor_si128(doubled, _mm_and_si128(out, polynomial));
}

// FIPS 197: each word of the key is the one of a key before it and the word before it, which for
// some words is substituted first.
KYANITE_ONE_INLINE __m128i next_key(__m128i before, __m128i substituted) {
  before = _mm_xor_si128(before, _mm_slli_si128(before, 4));
  before = _mm_xor_si128(before, _mm_slli_si128(before, 8));
  return _mm_xor_si128(before, substituted);
}
template <int kConstant>
KYANITE_ONE_INLINE __m128i next_key_of_128(__m128i before) {
  return next_key(before, _mm_shuffle_epi32(_mm_aeskeygenassist_si128(before, kConstant), 0xff));
}
template <int kConstant>
KYANITE_ONE_INLINE __m128i next_even_key(__m128i even, __m128i odd) {
  return next_key(even, _mm_shuffle_epi32(_mm_aeskeygenassist_si128(odd, kConstant), 0xff));
}
// Behind two keys the next two.
template <int kConstant>
KYANITE_ONE_INLINE void next_keys_of_256(__m128i* keys) {
  keys[2] = next_even_key<kConstant>(keys[0], keys[1]);
  keys[3] = next_key(keys[1], _mm_shuffle_epi32(_mm_aeskeygenassist_si128(keys[2], 0), 0xaa));
}

KYANITE_ONE void expand_128(const unsigned char* key, __m128i* keys) {
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
KYANITE_ONE void expand_256(const unsigned char* key, __m128i* keys) {
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

// What is only data, which all widths share.
struct alignas(64) Numbers {
  __m128i keys[kMostRounds + 1];
  // The hash's key to the power of kMostBlocksAtOnce and so on to the first, and behind them zeros,
  // which are loaded with the last of them.
  __m128i powers[kMostBlocksAtOnce + kMostLanes - 1];
  __m128i hash;
  __m128i counter;   // Of the next block, turned.
  __m128i tag_mask;  // The encrypted block of the nonce alone.
  // Of a block that began, the bytes that are there, the others zero; and its key stream.
  WideGcm::Block begun;
  WideGcm::Block stream;
  size_t begun_bytes;
  uint64_t authenticated;
  uint64_t encrypted;
  size_t rounds;
};

// What a register of two blocks does.
struct TwoBlocks {
  using Register = __m256i;
  static constexpr size_t kLanes = 2;

  KYANITE_TWO_INLINE static Register load(const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  KYANITE_TWO_INLINE static void store(void* to, Register value) {
    _mm256_storeu_si256(static_cast<__m256i*>(to), value);
  }
  // The first of them, and zeros.
  KYANITE_TWO_INLINE static Register load_some(const char* from, size_t blocks) {
    return blocks == kLanes ? load(from)
                            : first(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  KYANITE_TWO_INLINE static void store_some(char* to, size_t blocks, Register value) {
    if (blocks == kLanes) return store(to, value);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(value));
  }
  KYANITE_TWO_INLINE static Register first(__m128i block) { return _mm256_zextsi128_si256(block); }
  KYANITE_TWO_INLINE static __m128i first_of(Register value) {
    return _mm256_castsi256_si128(value);
  }
  KYANITE_TWO_INLINE static Register in_all(__m128i block) {
    return _mm256_broadcastsi128_si256(block);
  }
  KYANITE_TWO_INLINE static __m128i sum_of(Register lanes) {
    return _mm_xor_si128(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
  }
  KYANITE_TWO_INLINE static Register exclusive_or(Register one, Register other) {
    return _mm256_xor_si256(one, other);
  }
  KYANITE_TWO_INLINE static Register exclusive_or(Register one, Register other, Register third) {
    return _mm256_xor_si256(one, _mm256_xor_si256(other, third));
  }
  KYANITE_TWO_INLINE static Register sum_of_words(Register one, Register other) {
    return _mm256_add_epi32(one, other);
  }
  KYANITE_TWO_INLINE static Register lane_numbers() {
    return _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0);
  }
  KYANITE_TWO_INLINE static Register shuffled(Register value, Register order) {
    return _mm256_shuffle_epi8(value, order);
  }
  KYANITE_TWO_INLINE static Register round(Register value, Register key) {
    return _mm256_aesenc_epi128(value, key);
  }
  KYANITE_TWO_INLINE static Register last_round(Register value, Register key) {
    return _mm256_aesenclast_epi128(value, key);
  }
  template <int kHalves>
  KYANITE_TWO_INLINE static Register product(Register one, Register other) {
    return _mm256_clmulepi64_epi128(one, other, kHalves);
  }
};

// What a register of four blocks does.
struct FourBlocks {
  using Register = __m512i;
  static constexpr size_t kLanes = 4;

  KYANITE_FOUR_INLINE static Register load(const void* from) { return _mm512_loadu_si512(from); }
  KYANITE_FOUR_INLINE static void store(void* to, Register value) {
    _mm512_storeu_si512(to, value);
  }
  // So many blocks of a register, whose mask is of words of 64 bits.
  KYANITE_FOUR_INLINE static __mmask8 mask_of(size_t blocks) {
    return static_cast<__mmask8>((1u << 2 * blocks) - 1);
  }
  // The first of them, and zeros.
  KYANITE_FOUR_INLINE static Register load_some(const char* from, size_t blocks) {
    return _mm512_maskz_loadu_epi64(mask_of(blocks), from);
  }
  KYANITE_FOUR_INLINE static void store_some(char* to, size_t blocks, Register value) {
    _mm512_mask_storeu_epi64(to, mask_of(blocks), value);
  }
  KYANITE_FOUR_INLINE static Register first(__m128i block) { return _mm512_zextsi128_si512(block); }
  KYANITE_FOUR_INLINE static __m128i first_of(Register value) {
    return _mm512_castsi512_si128(value);
  }
  KYANITE_FOUR_INLINE static Register in_all(__m128i block) {
    return _mm512_broadcast_i32x4(block);
  }
  KYANITE_FOUR_INLINE static __m128i sum_of(Register lanes) {
    const __m256i half =
        _mm256_xor_si256(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
    return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  }
  KYANITE_FOUR_INLINE static Register exclusive_or(Register one, Register other) {
    return _mm512_xor_si512(one, other);
  }
  KYANITE_FOUR_INLINE static Register exclusive_or(Register one, Register other, Register third) {
    constexpr int kXor3 = 0x96;
    return _mm512_ternarylogic_epi64(one, other, third, kXor3);
  }
  KYANITE_FOUR_INLINE static Register sum_of_words(Register one, Register other) {
    return _mm512_add_epi32(one, other);
  }
  KYANITE_FOUR_INLINE static Register lane_numbers() {
    return _mm512_set_epi32(0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0);
  }
  KYANITE_FOUR_INLINE static Register shuffled(Register value, Register order) {
    return _mm512_shuffle_epi8(value, order);
  }
  KYANITE_FOUR_INLINE static Register round(Register value, Register key) {
    return _mm512_aesenc_epi128(value, key);
  }
  KYANITE_FOUR_INLINE static Register last_round(Register value, Register key) {
    return _mm512_aesenclast_epi128(value, key);
  }
  template <int kHalves>
  KYANITE_FOUR_INLINE static Register product(Register one, Register other) {
    return _mm512_clmulepi64_epi128(one, other, kHalves);
  }
};

// The loops are the same for both, but a function says by a constant which instructions it uses.
#define KYANITE_LANES TwoBlocks
#define KYANITE_LOOPS LoopsOfTwo
#define KYANITE_WIDE KYANITE_TWO
#include "smb/wide_gcm_loops.inc"
#undef KYANITE_LANES
#undef KYANITE_LOOPS
#undef KYANITE_WIDE

#define KYANITE_LANES FourBlocks
#define KYANITE_LOOPS LoopsOfFour
#define KYANITE_WIDE KYANITE_FOUR
#include "smb/wide_gcm_loops.inc"
#undef KYANITE_LANES
#undef KYANITE_LOOPS
#undef KYANITE_WIDE

}  // namespace

struct WideGcm::State : Numbers {
  // By the width's loops.
  void (*hash_blocks)(Numbers&, const char* from, size_t blocks);
  void (*encrypt_blocks)(Numbers&, const char* from, char* to, size_t blocks);
  void (*decrypt_blocks)(Numbers&, const char* from, char* to, size_t blocks);

  KYANITE_ONE State(const SecretKey& key, Width width);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { OPENSSL_cleanse(this, sizeof *this); }

  KYANITE_ONE void begin(const char* nonce);
  // Hashes the block that began, if one did. What is missing of it is zero.
  void end_block();
  // How many bytes of a piece belong to the block that began.
  size_t missing(size_t count) const {
    return begun_bytes == 0 ? 0 : std::min(count, kBlock - begun_bytes);
  }
  template <bool kEncrypts>
  void crypt_bytes(const char* from, char* to, size_t count);
  KYANITE_ONE void begin_stream();
  KYANITE_ONE Block tag();

 private:
  KYANITE_ONE_INLINE __m128i encrypted_block(__m128i block) const {
    block = _mm_xor_si128(block, keys[0]);
    for (size_t round = 1; round < rounds; ++round) block = _mm_aesenc_si128(block, keys[round]);
    return _mm_aesenclast_si128(block, keys[rounds]);
  }
};

WideGcm::State::State(const SecretKey& key, Width width) : Numbers() {
  CHECK(is_supported(width) && (key.size() == 16 || key.size() == 32));
  const auto use = [this](auto loops) {
    hash_blocks = loops.hash_blocks;
    encrypt_blocks = loops.encrypt_blocks;
    decrypt_blocks = loops.decrypt_blocks;
  };
  if (width == Width::kFourBlocks) {
    use(LoopsOfFour());
  } else {
    use(LoopsOfTwo());
  }
  rounds = key.size() == 16 ? kLeastRounds : kMostRounds;
  if (rounds == kLeastRounds) {
    expand_128(key.data(), keys);
  } else {
    expand_256(key.data(), keys);
  }
  const __m128i first = shifted(turned(encrypted_block(_mm_setzero_si128())));
  powers[kMostBlocksAtOnce - 1] = first;
  for (size_t i = kMostBlocksAtOnce - 1; i > 0; --i) powers[i - 1] = product_of(powers[i], first);
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
  hash_blocks(*this, reinterpret_cast<const char*>(begun.data()), 1);
  begun = {};
  begun_bytes = 0;
}

void WideGcm::State::begin_stream() {
  store(stream.data(), encrypted_block(turned(counter)));
  counter = _mm_add_epi32(counter, _mm_set_epi32(0, 0, 0, 1));
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
  hash = product_of(_mm_xor_si128(hash, lengths), powers[kMostBlocksAtOnce - 1]);
  Block result;
  store(result.data(), _mm_xor_si128(turned(hash), tag_mask));
  return result;
}

bool WideGcm::is_supported(Width width) {
  static const bool has_two = [] {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    constexpr unsigned kVaes = 1u << 9;
    constexpr unsigned kVpclmulqdq = 1u << 10;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) == 1 && (c & kVaes) != 0 &&
           (c & kVpclmulqdq) != 0 && __builtin_cpu_supports("aes") &&
           __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("avx2");
  }();
  static const bool has_four =
      has_two && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return width == Width::kFourBlocks ? has_four : has_two;
}

WideGcm::WideGcm(const SecretKey& key, Width width) : state_(std::make_unique<State>(key, width)) {}

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
  state.hash_blocks(state, bytes.data(), bytes.size() / kBlock);
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
  (kEncrypts ? state.encrypt_blocks : state.decrypt_blocks)(state, from, to, whole / kBlock);
  if (whole == count) return;
  state.begin_stream();
  state.crypt_bytes<kEncrypts>(from + whole, to + whole, count - whole);
}

void WideGcm::encrypt(const char* from, char* to, size_t count) { crypt<true>(from, to, count); }
void WideGcm::decrypt(const char* from, char* to, size_t count) { crypt<false>(from, to, count); }
WideGcm::Block WideGcm::tag() { return state_->tag(); }

}  // namespace kyanite::smb

#undef KYANITE_ONE
#undef KYANITE_ONE_INLINE
#undef KYANITE_TWO
#undef KYANITE_TWO_INLINE
#undef KYANITE_FOUR
#undef KYANITE_FOUR_INLINE

#else

namespace kyanite::smb {

struct WideGcm::State {};

bool WideGcm::is_supported(Width) { return false; }
WideGcm::WideGcm(const SecretKey&, Width width) { CHECK(is_supported(width)); }
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
