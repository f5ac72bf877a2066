#include "store/checksum.h"

#include <isa-l/crc.h>

#include "base/check.h"

namespace kyanite::store {

uint32_t crc32c(std::string_view bytes) {
  CHECK(bytes.size() <= INT32_MAX);
  // The library takes a mutable pointer and reads only.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  return ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~0u);
}

}  // namespace kyanite::store
