// An entity as it is stored and looked at. Keys are in the record's key; the value is
//
//   format (1 byte) | timestamp (varint of ticks) | property*
//   property = name length, name | type (1 byte) | payload length, payload
//
// so that a filter finds the property it asks about by stepping over the others.
// docs/formats/table.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/short_text.h"
#include "store/key.h"
#include "table/value.h"

namespace kyanite::table {

inline constexpr std::string_view kPartitionKey = "PartitionKey";
inline constexpr std::string_view kRowKey = "RowKey";
inline constexpr std::string_view kTimestamp = "Timestamp";

// The family of a table's space: partition is PartitionKey, row is RowKey.
inline constexpr store::Family kEntities = 'E';

struct Property {
  std::string_view name;
  Value value;
};

void append_property(std::string& out, const Property& property);

// Walks encoded properties. Views point into what it was given.
class PropertyReader {
 public:
  explicit PropertyReader(std::string_view encoded) : rest_(encoded) {}
  // False at the end, or where the bytes are no property.
  bool next(Property& property);
  bool damaged() const { return damaged_; }

 private:
  std::string_view rest_;
  bool damaged_ = false;
};

struct Entity {
  std::string_view partition;
  std::string_view row;
  Time timestamp;
  std::string_view properties;  // encoded, without the system properties

  // Custom and system properties alike, by their case-sensitive name.
  std::optional<Value> find(std::string_view name) const;
};

std::string encode_entity(Time timestamp, std::string_view properties);
// Nothing when the bytes are no entity; properties are only looked at when walked.
std::optional<Entity> decode_entity(std::string_view partition, std::string_view row,
                                    std::string_view record);
// Whether all of the record can be walked.
bool is_well_formed(std::string_view record);

// All of `before`, with those replaced that `change` names too, then the rest of `change`.
std::string merge_properties(std::string_view before, std::string_view change);

size_t count_properties(std::string_view properties);
// What the service counts against the limit of an entity: UTF-16 text, eight bytes per property.
size_t entity_size(std::string_view partition, std::string_view row, std::string_view properties);

// W/"datetime'2022-05-06T00%3A44%3A28.9094416Z'"
ShortText<63> entity_tag(Time timestamp);

}  // namespace kyanite::table
