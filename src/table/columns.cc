#include "table/columns.h"

namespace kyanite::table {

namespace {
bool is_system(std::string_view name) {
  return name == kPartitionKey || name == kRowKey || name == kTimestamp;
}
}  // namespace

size_t Columns::add(std::string_view name) {
  const auto [found, added] = numbers_.try_emplace(std::string(name), names_.size());
  if (added) {
    names_.emplace_back(name);
    if (!is_system(name)) ++stored_;
  }
  return found->second;
}

void Columns::load(const Entity& entity, Row& row) const {
  row.assign(names_.size(), std::nullopt);
  if (stored_ < names_.size()) {
    for (const std::string_view name : {kPartitionKey, kRowKey, kTimestamp}) {
      if (const auto found = numbers_.find(name); found != numbers_.end())
        row[found->second] = entity.find(name);
    }
  }
  PropertyReader reader(entity.properties);
  size_t missing = stored_;
  for (Property property; missing > 0 && reader.next(property);) {
    const auto found = numbers_.find(property.name);
    if (found == numbers_.end() || row[found->second]) continue;
    row[found->second] = property.value;
    --missing;
  }
}

}  // namespace kyanite::table
