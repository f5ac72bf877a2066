// Whatever reads as a GUID reads as itself again in canonical form.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "concurrency/guid.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kyanite::concurrency::parse_guid;
  auto guid = parse_guid({reinterpret_cast<const char*>(data), size});
  if (!guid) return 0;
  CHECK(guid->size() == 36);
  CHECK(parse_guid(*guid) == *guid);
  return 0;
}
