// Whatever is accepted reads back the same from both of its forms.
#include "base/check.h"
#include "tree/sddl.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite::tree;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const auto& descriptor : {parse_sddl(input), parse_descriptor(input)}) {
    if (!descriptor) continue;
    CHECK(parse_sddl(write_sddl(*descriptor)) == descriptor);
    CHECK(parse_descriptor(write_descriptor(*descriptor)) == descriptor);
  }
  return 0;
}
