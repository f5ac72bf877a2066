// Names of tables, keys of entities, names of properties: what the service allows, and how keys are
// written in URLs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "auth/target.h"
#include "wire/error.h"

namespace kyanite::table {

inline constexpr size_t kMinTableName = 3;
inline constexpr size_t kMaxTableName = 63;
inline constexpr size_t kMaxKeyLength = 1024;          // UTF-16 units
inline constexpr size_t kMaxPropertyNameLength = 255;  // UTF-16 units

// Letters and digits, beginning with a letter. Length first, as the service has it.
wire::Result<void> check_table_name(std::string_view name);
// `which` is PartitionKey or RowKey.
wire::Result<void> check_key(std::string_view which, std::string_view key);
wire::Result<void> check_property_name(std::string_view name);

// "People", "People()", "People(PartitionKey='a',RowKey='b')": table and, perhaps, entity. Nothing
// when it has none of these forms.
struct ResourcePath {
  std::string_view table;
  std::optional<auth::EntityKeys> keys;
};
std::optional<ResourcePath> parse_resource_path(std::string_view path);
// "Tables('People')" to People. Nothing when it has another form.
std::optional<std::string> parse_tables_path(std::string_view path);

// "People(PartitionKey='a',RowKey='it''s')", percent-encoded.
std::string entity_path(std::string_view table, std::string_view partition, std::string_view row);

}  // namespace kyanite::table
