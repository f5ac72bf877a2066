// Any text as a filter: refused, or evaluated and planned. No row that matches may lie outside the
// planned ranges.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "table/entity.h"
#include "table/filter.h"
#include "table/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite;
  using namespace kyanite::table;
  constexpr store::SpaceId kSpace = 1;
  auto filter = Filter::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!filter) return 0;
  const auto ranges = plan(kSpace, &*filter);
  for (size_t i = 1; i < ranges.size(); ++i) CHECK(ranges[i - 1].to() < ranges[i].from());
  std::string properties;
  append_property(properties, {"a", Value::of_number(Edm::kInt32, 5)});
  append_property(properties, {"b", Value::of_real(1.5)});
  append_property(properties, {"c", Value::of_string("x")});
  for (const std::string_view partition : {"", "a", "b", "x"}) {
    for (const std::string_view row : {"", "a", "x", "x'"}) {
      const Entity entity{partition, row, Time{1}, properties};
      Row values;
      filter->columns().load(entity, values);
      if (!filter->matches(values)) continue;
      const std::string key = store::Key(kSpace, kEntities, partition, row).bytes();
      CHECK(std::any_of(ranges.begin(), ranges.end(),
                        [&](const store::Range& range) { return range.contains(key); }));
    }
  }
  return 0;
}
