// The CRC-64 of x-ms-content-crc64 (CRC-64/NVME: reflected polynomial 0x9A6C9329AC4BC9B5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kyanite::wire {

// Continues from `crc`; 0 starts. crc64(crc64(0, a), b) == crc64(0, ab).
uint64_t crc64(uint64_t crc, std::string_view bytes);

// Continues by so many zero bytes, in a time that does not depend on their number.
uint64_t crc64_zeros(uint64_t crc, uint64_t count);

// As headers carry it: base64 of the eight bytes, least significant first.
std::string crc64_text(uint64_t crc);

}  // namespace kyanite::wire
