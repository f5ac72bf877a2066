#include "transfer/md5_hash.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/check.h"

namespace kyanite::transfer {

namespace {

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

// A word of the state or of a block, of one body or of several: one a lane. The compiler makes one
// instruction for all lanes out of each operation.
using FourLanes = uint32_t __attribute__((vector_size(16)));
constexpr size_t kWordsOfBlock = MD5_CBLOCK / sizeof(uint32_t);
using Blocks = std::array<const char*, Md5Hash::kMostAtOnce>;

uint32_t word_at(const char* block, size_t word) {
  uint32_t value;
  std::memcpy(&value, block + word * sizeof value, sizeof value);
  return value;
}

template <int kRound, class Word>
[[gnu::always_inline]] inline Word mixed(Word b, Word c, Word d) {
  // As sums, of which the parts without b, which comes last, are ready before.
  if constexpr (kRound == 0) return (d & ~b) + (b & c);
  if constexpr (kRound == 1) return (c & ~d) + (b & d);
  if constexpr (kRound == 2) return (c ^ d) ^ b;
  if constexpr (kRound == 3) return c ^ (b | ~d);
}

// Has the compiler add up lanes in the order that is written: what is ready early comes first.
[[gnu::always_inline]] inline void keep_order(uint32_t&) {}
[[gnu::always_inline]] inline void keep_order(FourLanes& sum) {
#if defined(__aarch64__)
  asm("" : "+w"(sum));
#else
  asm("" : "+x"(sum));
#endif
}

template <int kStep, class Word>
[[gnu::always_inline]] inline void md5_step(std::array<Word, 4>& words, Word word) {
  constexpr int kRound = kStep / 16;
  constexpr int kTurn = kTurns[kRound][kStep % 4];
  Word& a = words[(64 - kStep) % 4];
  const Word b = words[(65 - kStep) % 4];
  a += word + kSines[kStep];
  keep_order(a);
  a += mixed<kRound>(b, words[(66 - kStep) % 4], words[(67 - kStep) % 4]);
  a = (a << kTurn | a >> (32 - kTurn)) + b;
}

// Words of the blocks of four bodies by lanes: a square of words is turned over at a time.
[[gnu::always_inline]] inline void load_lanes(FourLanes* to, const Blocks& blocks) {
  for (size_t word = 0; word < kWordsOfBlock; word += 4) {
    FourLanes rows[4];
    for (size_t lane = 0; lane < 4; ++lane)
      std::memcpy(&rows[lane], blocks[lane] + word * sizeof(uint32_t), sizeof rows[lane]);
    const FourLanes low = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
    const FourLanes high = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
    const FourLanes lower = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
    const FourLanes higher = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
    to[word] = __builtin_shufflevector(low, lower, 0, 1, 4, 5);
    to[word + 1] = __builtin_shufflevector(low, lower, 2, 3, 6, 7);
    to[word + 2] = __builtin_shufflevector(high, higher, 0, 1, 4, 5);
    to[word + 3] = __builtin_shufflevector(high, higher, 2, 3, 6, 7);
  }
}

using Steps = std::make_integer_sequence<int, 64>;

// The state of several bodies, one a lane, and how so many blocks of each are hashed.
struct FourBodies {
  static constexpr size_t kLanes = 4;
  std::array<FourLanes, 4> words;

  void set(size_t lane, size_t word, uint32_t value) { words[word][lane] = value; }
  uint32_t get(size_t lane, size_t word) const { return words[word][lane]; }
  void hash(Blocks blocks, size_t count) {
    for (; count > 0; --count) {
      FourLanes block[kWordsOfBlock];
      load_lanes(block, blocks);
      const auto before = words;
      hash_block(block, Steps());
      for (size_t i = 0; i < words.size(); ++i) words[i] += before[i];
      for (const char*& each : blocks) each += MD5_CBLOCK;
    }
  }
  template <int... kSteps>
  [[gnu::always_inline]] void hash_block(const FourLanes* block,
                                         std::integer_sequence<int, kSteps...>) {
    (md5_step<kSteps>(words, block[word_of<kSteps / 16>(kSteps)]), ...);
  }
};

// By ordinary instructions in turns: lanes that stay empty would cost more.
struct TwoBodies {
  static constexpr size_t kLanes = 2;
  std::array<uint32_t, 4> one;
  std::array<uint32_t, 4> other;

  void set(size_t lane, size_t word, uint32_t value) { (lane == 0 ? one : other)[word] = value; }
  uint32_t get(size_t lane, size_t word) const { return (lane == 0 ? one : other)[word]; }
  void hash(Blocks blocks, size_t count) {
    for (; count > 0; --count) {
      const auto before = one;
      const auto other_before = other;
      hash_block(blocks, Steps());
      for (size_t i = 0; i < one.size(); ++i) {
        one[i] += before[i];
        other[i] += other_before[i];
      }
      for (size_t lane = 0; lane < kLanes; ++lane) blocks[lane] += MD5_CBLOCK;
    }
  }
  template <int... kSteps>
  [[gnu::always_inline]] void hash_block(const Blocks& blocks,
                                         std::integer_sequence<int, kSteps...>) {
    ((md5_step<kSteps>(one, word_at(blocks[0], word_of<kSteps / 16>(kSteps))),
      md5_step<kSteps>(other, word_at(blocks[1], word_of<kSteps / 16>(kSteps)))),
     ...);
  }
};

#if defined(__x86_64__)

// AVX-512 has any function of three words, and turns, as one instruction each, for four lanes at
// least. So only four instructions of a step wait for each other, where others need five or six,
// and one body alone is faster in a lane than by ordinary instructions.
#define KYANITE_AVX512 __attribute__((target("avx512f,avx512vl")))
#define KYANITE_AVX512_INLINE [[gnu::always_inline]] KYANITE_AVX512 inline

template <int kStep>
KYANITE_AVX512_INLINE void avx512_step(__m128i (&words)[4], __m128i word) {
  constexpr int kRound = kStep / 16;
  // mixed() of d, c and b: bit d * 4 + c * 2 + b is the result.
  constexpr int kMixed[] = {0xd8, 0xac, 0x96, 0x63};
  // Of their own: builds that optimize nothing take no elements for the constants of instructions.
  constexpr int kMix = kMixed[kRound];
  constexpr int kTurn = kTurns[kRound][kStep % 4];
  __m128i a = words[(64 - kStep) % 4];
  const __m128i b = words[(65 - kStep) % 4];
  const __m128i c = words[(66 - kStep) % 4];
  const __m128i d = words[(67 - kStep) % 4];
  a = _mm_add_epi32(a, word);
  asm("" : "+v"(a));  // As keep_order().
  a = _mm_add_epi32(a, _mm_ternarylogic_epi32(d, c, b, kMix));
  words[(64 - kStep) % 4] = _mm_add_epi32(_mm_rol_epi32(a, kTurn), b);
}

// The word of the block that a step adds, and its sine.
template <int kStep>
KYANITE_AVX512_INLINE __m128i word_of_step(const char* block) {
  const char* word = block + word_of<kStep / 16>(kStep) * sizeof(uint32_t);
  return _mm_add_epi32(_mm_loadu_si32(word), _mm_cvtsi32_si128(static_cast<int>(kSines[kStep])));
}
template <int kStep>
KYANITE_AVX512_INLINE __m128i word_of_step(const FourLanes* block) {
  const auto word = reinterpret_cast<__m128i>(block[word_of<kStep / 16>(kStep)]);
  return _mm_add_epi32(word, _mm_set1_epi32(static_cast<int>(kSines[kStep])));
}
template <class Block, int... kSteps>
KYANITE_AVX512_INLINE void avx512_steps(__m128i (&words)[4], const Block* block,
                                        std::integer_sequence<int, kSteps...>) {
  (avx512_step<kSteps>(words, word_of_step<kSteps>(block)), ...);
}

template <size_t kBodies>
struct Avx512Bodies {
  static constexpr size_t kLanes = kBodies;
  alignas(16) uint32_t words[4][4] = {};  // Of each word of the state, the lanes.

  void set(size_t lane, size_t word, uint32_t value) { words[word][lane] = value; }
  uint32_t get(size_t lane, size_t word) const { return words[word][lane]; }
  KYANITE_AVX512 void hash(Blocks blocks, size_t count) {
    __m128i state[] = {load(0), load(1), load(2), load(3)};
    for (; count > 0; --count) {
      const __m128i before[] = {state[0], state[1], state[2], state[3]};
      if constexpr (kBodies == 1) {
        avx512_steps(state, blocks[0], Steps());
      } else {
        FourLanes block[kWordsOfBlock];
        load_lanes(block, blocks);
        avx512_steps(state, block, Steps());
      }
      for (size_t i = 0; i < 4; ++i) state[i] = _mm_add_epi32(state[i], before[i]);
      for (size_t lane = 0; lane < kBodies; ++lane) blocks[lane] += MD5_CBLOCK;
    }
    for (size_t i = 0; i < 4; ++i) _mm_store_si128(reinterpret_cast<__m128i*>(words[i]), state[i]);
  }
  KYANITE_AVX512_INLINE __m128i load(size_t word) const {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(words[word]));
  }
};

#endif

}  // namespace

// The state is OpenSSL's, which hashes single bodies: by MD5_CTX it can be seen, by EVP it cannot.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
Md5Hash::Md5Hash() { CHECK(MD5_Init(&state_) == 1); }

void Md5Hash::update_by_openssl(std::string_view bytes) {
  CHECK(MD5_Update(&state_, bytes.data(), bytes.size()) == 1);
}

std::string Md5Hash::finish() {
  std::string digest(MD5_DIGEST_LENGTH, '\0');
  CHECK(MD5_Final(reinterpret_cast<unsigned char*>(digest.data()), &state_) == 1);
  return digest;
}
#pragma GCC diagnostic pop

void Md5Hash::update(std::string_view bytes) {
  const Update one{this, bytes};
  update_all({&one, 1});
}

bool Md5Hash::has(Instructions instructions) {
  if (instructions == Instructions::kUsual) return true;
#if defined(__x86_64__)
  static const bool avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  return avx512;
#else
  return false;
#endif
}

// What is fast differs between processors that have the same instructions: some have a result of
// AVX-512 as soon as any other, some a cycle later. Whoever else uses the machine meanwhile makes
// some of the times longer, so the shortest count.
Md5Hash::Instructions Md5Hash::measure(size_t bodies) {
  constexpr size_t kBlocks = 128;
  constexpr int kTimes = 8;
  const std::string bytes(kBlocks * MD5_CBLOCK, '\0');
  std::array<Md5Hash, kMostAtOnce> hashes;
  std::array<Update, kMostAtOnce> updates{};
  for (size_t i = 0; i < bodies; ++i) updates[i] = {&hashes[i], bytes};
  const auto shortest = [&](Instructions by) {
    auto least = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < kTimes; ++i) {
      const auto began = std::chrono::steady_clock::now();
      hash_blocks(std::span(updates).first(bodies), kBlocks, by);
      least = std::min(least, std::chrono::steady_clock::now() - began);
    }
    return least;
  };
  return shortest(Instructions::kAvx512) < shortest(Instructions::kUsual) ? Instructions::kAvx512
                                                                          : Instructions::kUsual;
}

Md5Hash::Instructions Md5Hash::best(size_t bodies) {
  if (!has(Instructions::kAvx512)) return Instructions::kUsual;
  static const auto measured = [] {
    std::array<Instructions, kMostAtOnce> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = measure(i + 1);
    return all;
  }();
  return measured[bodies - 1];
}

// It is counted in bits.
void Md5Hash::add_length(size_t bytes) {
  const uint64_t bits = (uint64_t{state_.Nh} << 32 | state_.Nl) + uint64_t{bytes} * 8;
  state_.Nl = static_cast<uint32_t>(bits);
  state_.Nh = static_cast<uint32_t>(bits >> 32);
}

template <class Bodies>
void Md5Hash::hash_lanes(std::span<const Update> updates, size_t count) {
  Bodies bodies;
  Blocks blocks{};
  for (size_t lane = 0; lane < Bodies::kLanes; ++lane) {
    // What lanes without a body hash is not looked at.
    const Update& update = updates[lane < updates.size() ? lane : 0];
    const MD5_CTX& state = update.hash->state_;
    blocks[lane] = update.bytes.data();
    bodies.set(lane, 0, state.A);
    bodies.set(lane, 1, state.B);
    bodies.set(lane, 2, state.C);
    bodies.set(lane, 3, state.D);
  }
  bodies.hash(blocks, count);
  for (size_t lane = 0; lane < updates.size(); ++lane) {
    MD5_CTX& state = updates[lane].hash->state_;
    state.A = bodies.get(lane, 0);
    state.B = bodies.get(lane, 1);
    state.C = bodies.get(lane, 2);
    state.D = bodies.get(lane, 3);
    updates[lane].hash->add_length(count * MD5_CBLOCK);
  }
}

void Md5Hash::hash_blocks(std::span<const Update> updates, size_t blocks,
                          [[maybe_unused]] Instructions by) {
#if defined(__x86_64__)
  if (by == Instructions::kAvx512) {
    if (updates.size() == 1) return hash_lanes<Avx512Bodies<1>>(updates, blocks);
    return hash_lanes<Avx512Bodies<4>>(updates, blocks);
  }
#endif
  if (updates.size() == 1)
    return updates[0].hash->update_by_openssl(updates[0].bytes.substr(0, blocks * MD5_CBLOCK));
  if (updates.size() == 2) return hash_lanes<TwoBodies>(updates, blocks);
  hash_lanes<FourBodies>(updates, blocks);
}

void Md5Hash::update_all(std::span<const Update> updates, std::optional<Instructions> by) {
  CHECK(updates.size() <= kMostAtOnce);
  std::array<Update, kMostAtOnce> left{};
  size_t count = 0;
  for (Update update : updates) {
    const size_t filling = std::min(update.hash->missing(), update.bytes.size());
    update.hash->update_by_openssl(update.bytes.substr(0, filling));
    update.bytes.remove_prefix(filling);
    left[count++] = update;
  }
  const auto ends = [](const Update& update) { return update.bytes.size() < MD5_CBLOCK; };
  const auto begin = left.begin();
  while (true) {
    const auto end = begin + static_cast<ptrdiff_t>(count);
    const auto ended = std::partition(begin, end, [&](const Update& each) { return !ends(each); });
    for (auto each = ended; each != end; ++each) each->hash->update_by_openssl(each->bytes);
    count = static_cast<size_t>(ended - begin);
    if (count == 0) return;
    size_t bytes = left[0].bytes.size();
    for (size_t i = 1; i < count; ++i) bytes = std::min(bytes, left[i].bytes.size());
    const size_t blocks = bytes / MD5_CBLOCK;
    hash_blocks(std::span(left).first(count), blocks, by ? *by : best(count));
    for (size_t i = 0; i < count; ++i) left[i].bytes.remove_prefix(blocks * MD5_CBLOCK);
  }
}

}  // namespace kyanite::transfer
