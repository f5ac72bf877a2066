// A fuzzer with faults, for ./dev fuzz --self-test: KYANITE_PLANTED says which one an input that
// begins with "bug" meets. Not part of the product.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/check.h"

namespace {

// What the compiler cannot see through, so that the faults are made and not found by it.
template <class T>
T opaque(T value) {
  volatile T hidden = value;
  return hidden;
}

void fail_a_check() { CHECK(opaque(false)); }

void read_past_the_end() {
  const auto bytes = std::make_unique<char[]>(8);
  opaque(bytes[opaque<size_t>(8)]);
}

void overflow() { opaque(opaque(INT32_MAX) + opaque(1)); }

void forget_memory() { opaque(new char[100]); }

void hang() {
  while (opaque(true)) {
  }
}

struct Planted {
  std::string_view name;
  void (*fault)();
};
constexpr Planted kPlanted[] = {
    {"check", fail_a_check}, {"read", read_past_the_end},
    {"overflow", overflow},  {"memory", forget_memory},
    {"hang", hang},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const char* chosen = std::getenv("KYANITE_PLANTED");
  if (!chosen || size < 3 || data[0] != 'b' || data[1] != 'u' || data[2] != 'g') return 0;
  for (const auto& [name, fault] : kPlanted)
    if (name == chosen) fault();
  return 0;
}
