#include "store/checksum.h"

#include <isa-l/crc.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/check.h"

namespace kyanite::store {

namespace {

#if defined(__x86_64__)
__attribute__((target("avx"))) void clear_upper_halves() { _mm256_zeroupper(); }
#endif

// The library leaves the upper halves of wide registers in use. Until somebody clears them, the
// processor carries them along in every SSE instruction of the thread: MD5 in lanes took twice as
// long, and OpenSSL and RocksDB are full of them.
void tidy_registers() {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx") != 0;
  if (wide) clear_upper_halves();
#endif
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  CHECK(bytes.size() <= INT32_MAX);
  // The library takes a mutable pointer and reads only.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  const uint32_t crc = ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~0u);
  tidy_registers();
  return crc;
}

}  // namespace kyanite::store
