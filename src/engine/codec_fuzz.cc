#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "engine/codec.h"

// Whatever decodes must encode to something that decodes to the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (auto record = kyanite::engine::decode_record(bytes)) {
    const auto again = kyanite::engine::encode_head(record->refs) + record->value;
    CHECK(kyanite::engine::decode_record(again) == record);
  }
  return 0;
}
