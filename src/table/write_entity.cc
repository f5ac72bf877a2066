// The writing half of table/json_entity.h.
#include "base/bytes.h"
#include "table/json_entity.h"
#include "table/names.h"

namespace kyanite::table {

namespace {

// Types that JSON cannot express by itself are annotated.
bool needs_annotation(const Value& value) {
  switch (value.type) {
    case Edm::kString:
    case Edm::kInt32:
    case Edm::kBoolean:
      return false;
    case Edm::kDouble:
      return value.real != value.real || value.real - value.real != 0;  // NaN, infinities
    case Edm::kInt64:
    case Edm::kDateTime:
    case Edm::kGuid:
    case Edm::kBinary:
      return true;
  }
  return true;
}

void write_value(wire::JsonWriter& json, const Value& value) {
  switch (value.type) {
    case Edm::kString:
      json.string(value.bytes);
      return;
    case Edm::kInt32:
      json.integer(value.number);
      return;
    case Edm::kInt64:
      json.string(std::to_string(value.number));
      return;
    case Edm::kDouble:
      json.number(value.real);
      return;
    case Edm::kBoolean:
      json.boolean(value.number != 0);
      return;
    case Edm::kDateTime:
      json.string(date_time_text(Time{value.number}));
      return;
    case Edm::kGuid:
      json.string(guid_text(value.bytes));
      return;
    case Edm::kBinary:
      json.string(base64(value.bytes));
      return;
  }
}

void write_property(wire::JsonWriter& json, Metadata metadata, const Property& property) {
  if (metadata != Metadata::kNone && needs_annotation(property.value))
    json.key(property.name, "@odata.type").string(name(property.value.type));
  json.key(property.name);
  write_value(json, property.value);
}

void write_annotations(wire::JsonWriter& json, const EntityShape& shape, const Entity& entity) {
  if (shape.metadata == Metadata::kNone) return;
  const bool full = shape.metadata == Metadata::kFull;
  std::string path;
  if (full) {
    path = entity_path(shape.table, entity.partition, entity.row);
    json.member("odata.type", std::string(shape.account) + "." + std::string(shape.table));
    json.member("odata.id", std::string(shape.endpoint) + path);
  }
  json.member("odata.etag", entity_tag(entity.timestamp));
  if (full) json.member("odata.editLink", path);
}

// The type of Timestamp is known to every client; only full metadata spells it out.
void write_timestamp(wire::JsonWriter& json, Metadata metadata, Time timestamp) {
  if (metadata == Metadata::kFull) json.key(kTimestamp, "@odata.type").string(name(Edm::kDateTime));
  json.member(kTimestamp, date_time_text(timestamp));
}

// In the order asked for; what the entity does not have is null.
void write_selected(wire::JsonWriter& json, const EntityShape& shape, const Entity& entity) {
  Row row;
  shape.select->load(entity, row);
  for (size_t column = 0; column < row.size(); ++column) {
    const std::string_view wanted = shape.select->names()[column];
    if (wanted == kTimestamp) {
      write_timestamp(json, shape.metadata, entity.timestamp);
    } else if (row[column]) {
      write_property(json, shape.metadata, {wanted, *row[column]});
    } else {
      json.key(wanted).null();
    }
  }
}
}  // namespace

void write_entity(wire::JsonWriter& json, const EntityShape& shape, const Entity& entity) {
  write_annotations(json, shape, entity);
  if (shape.select) {
    write_selected(json, shape, entity);
    return;
  }
  json.member(kPartitionKey, entity.partition).member(kRowKey, entity.row);
  write_timestamp(json, shape.metadata, entity.timestamp);
  PropertyReader reader(entity.properties);
  for (Property property; reader.next(property);) write_property(json, shape.metadata, property);
}

}  // namespace kyanite::table
