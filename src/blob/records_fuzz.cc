// No bytes harm the decoders of blob and container records, and what decodes settles: encoding it
// gives bytes that decode and encode to themselves.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "blob/records.h"
#include "store/fields.h"

namespace {
template <class T>
void check(std::string_view bytes) {
  using namespace kyanite;
  const auto value = store::decode<T>(bytes);
  if (!value) return;
  const std::string encoded = store::encode(*value);
  const auto again = store::decode<T>(encoded);
  CHECK(again);
  CHECK(store::encode(*again) == encoded);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check<kyanite::blob::Blob>(bytes);
  check<kyanite::blob::Container>(bytes);
  check<kyanite::blob::DeadContainer>(bytes);
  return 0;
}
