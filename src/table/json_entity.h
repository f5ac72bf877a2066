// Entities in JSON: what clients send, and what they get back at the three levels of metadata.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table/columns.h"
#include "table/entity.h"
#include "wire/error.h"
#include "wire/json.h"

namespace kyanite::table {

inline constexpr size_t kMaxProperties = 252;  // besides the three of the system
inline constexpr size_t kMaxEntityBytes = 1024 * 1024;
inline constexpr size_t kMaxStringLength = 32 * 1024;  // UTF-16 units
inline constexpr size_t kMaxBinaryBytes = 64 * 1024;
// Enough for the largest entity in the most wasteful JSON.
inline constexpr size_t kMaxEntityBody = 4 * 1024 * 1024;

struct EntityInput {
  std::optional<std::string> partition;
  std::optional<std::string> row;
  std::string properties;  // encoded; a null is left out, so is Timestamp
};

// The rules of names, types, values and number of properties are checked, keys and the size of the
// whole are not. A type annotation may come before or after its value.
wire::Result<EntityInput> parse_entity(std::string_view json);

// The TableName of a Create Table body.
wire::Result<std::string> parse_table_name(std::string_view json);

enum class Metadata { kNone, kMinimal, kFull };

// How entities of one reply are written.
struct EntityShape {
  Metadata metadata = Metadata::kMinimal;
  std::string_view endpoint;  // "http://host/account/"
  std::string_view account;
  std::string_view table;
  std::optional<Columns> select;  // Nothing: all properties.
};

// The members of one entity, within an object opened by the caller.
void write_entity(wire::JsonWriter& json, const EntityShape& shape, const Entity& entity);

}  // namespace kyanite::table
