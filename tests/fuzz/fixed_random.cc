// Stands in for base/random.cc where a fuzzer must see the same each time: the functions of
// base/random.h, with a sequence that restart_random() begins anew. A thread has its own.
#include <cstdint>
#include <random>
#include <string>

#include "base/bytes.h"
#include "base/random.h"

namespace kyanite {

void restart_random();

namespace {
thread_local std::mt19937_64 generator;
}

void restart_random() { generator.seed(1); }

uint64_t random_u64() { return generator(); }

std::string random_bytes(size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(generator());
  return bytes;
}

std::string random_uuid() {
  std::string text = hex(random_bytes(16));
  for (const size_t dash : {8U, 13U, 18U, 23U}) text.insert(dash, 1, '-');
  text[14] = '4';
  text[19] = 'a';
  return text;
}

}  // namespace kyanite
