// Any bytes as a stored entity: damage is found, never followed.
#include <cstddef>
#include <cstdint>

#include "table/entity.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite::table;
  const std::string_view record(reinterpret_cast<const char*>(data), size);
  (void)is_well_formed(record);
  const auto entity = decode_entity("p", "r", record);
  if (!entity) return 0;
  (void)entity->find("x");
  (void)entity_size(entity->partition, entity->row, entity->properties);
  (void)merge_properties(entity->properties, entity->properties);
  return 0;
}
