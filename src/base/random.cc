#include "base/random.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace kyanite {

namespace {
constexpr size_t kPoolBytes = 256;  // getrandom never returns short up to this size.

struct Pool {
  char bytes[kPoolBytes];
  size_t used = kPoolBytes;
};
thread_local Pool pool;

void fill(char* out, size_t count) {
  while (count > 0) {
    if (pool.used == kPoolBytes) {
      ssize_t got;
      do {
        got = getrandom(pool.bytes, kPoolBytes, 0);
      } while (got < 0 && errno == EINTR);
      CHECK(got == static_cast<ssize_t>(kPoolBytes));
      pool.used = 0;
    }
    const size_t take = std::min(count, kPoolBytes - pool.used);
    std::memcpy(out, pool.bytes + pool.used, take);
    std::memset(pool.bytes + pool.used, 0, take);
    pool.used += take;
    out += take;
    count -= take;
  }
}
}  // namespace

std::string random_bytes(size_t count) {
  std::string out(count, '\0');
  fill(out.data(), count);
  return out;
}

uint64_t random_u64() {
  uint64_t value;
  fill(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

std::string random_uuid() {
  unsigned char raw[16];
  fill(reinterpret_cast<char*>(raw), sizeof raw);
  raw[6] = static_cast<unsigned char>((raw[6] & 0x0f) | 0x40);
  raw[8] = static_cast<unsigned char>((raw[8] & 0x3f) | 0x80);
  static constexpr char kHex[] = "0123456789abcdef";
  // Where each byte's digits stand.
  static constexpr uint8_t kAt[16] = {0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34};
  std::string out(36, '-');
  char* const digits = out.data();
  for (size_t i = 0; i < sizeof raw; ++i) {
    digits[kAt[i]] = kHex[raw[i] >> 4];
    digits[kAt[i] + 1] = kHex[raw[i] & 15];
  }
  return out;
}

}  // namespace kyanite
