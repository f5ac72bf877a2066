// CRC-32C (Castagnoli), the checksum of runs and of extent headers: crc32c("123456789") ==
// 0xe3069283.
#pragma once

#include <cstdint>
#include <string_view>

namespace kyanite::store {

uint32_t crc32c(std::string_view bytes);

}  // namespace kyanite::store
