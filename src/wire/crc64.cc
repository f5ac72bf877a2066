#include "wire/crc64.h"

#include <array>
#include <cstring>

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
}  // namespace

uint64_t crc64(uint64_t crc, std::string_view bytes) {
  crc = ~crc;
  const char* at = bytes.data();
  size_t left = bytes.size();
  while (left >= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    word ^= crc;
    crc = kTables[7][word & 0xff] ^ kTables[6][word >> 8 & 0xff] ^ kTables[5][word >> 16 & 0xff] ^
          kTables[4][word >> 24 & 0xff] ^ kTables[3][word >> 32 & 0xff] ^
          kTables[2][word >> 40 & 0xff] ^ kTables[1][word >> 48 & 0xff] ^ kTables[0][word >> 56];
    at += 8;
    left -= 8;
  }
  for (; left > 0; --left)
    crc = kTables[0][(crc ^ static_cast<unsigned char>(*at++)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::string crc64_text(uint64_t crc) {
  char bytes[8];
  std::memcpy(bytes, &crc, 8);
  return base64(std::string_view(bytes, 8));
}

}  // namespace kyanite::wire
