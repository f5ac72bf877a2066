// Any bytes as an entity: refused, or stored in a form that can be walked and written, and that
// reads back as the same.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "table/json_entity.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite;
  using namespace kyanite::table;
  const auto input = parse_entity(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!input) return 0;
  const std::string record = encode_entity(Time{kUnixEpochTicks}, input->properties);
  CHECK(is_well_formed(record));
  const auto entity = decode_entity("p", "r", record);
  CHECK(entity && count_properties(entity->properties) <= kMaxProperties);
  std::string text;
  wire::JsonWriter json(text);
  const EntityShape shape{Metadata::kFull, "http://h/a/", "a", "t", {}};
  json.begin_object();
  write_entity(json, shape, *entity);
  json.end_object();
  const auto again = parse_entity(text);
  CHECK(again);
  CHECK(again->properties == input->properties);
  CHECK(merge_properties(input->properties, input->properties) == input->properties);
  return 0;
}
