#include "table/entity.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/bytes.h"
#include "store/fields.h"

namespace kyanite::table {

namespace {
constexpr char kEntityFormat = 1;

void append_bytes(std::string& out, std::string_view bytes) {
  append_varint(out, bytes.size());
  out.append(bytes);
}

bool take_bytes(std::string_view& in, std::string_view& bytes) {
  uint64_t length = 0;
  if (!read_varint(in, length) || length > in.size()) return false;
  bytes = in.substr(0, length);
  in.remove_prefix(length);
  return true;
}

std::string_view payload_of(const Value& value, std::string& scratch) {
  switch (value.type) {
    case Edm::kString:
    case Edm::kBinary:
    case Edm::kGuid:
      return value.bytes;
    case Edm::kInt32:
    case Edm::kInt64:
    case Edm::kBoolean:
    case Edm::kDateTime:
      append_varint(scratch, store::fields_internal::zigzag(value.number));
      return scratch;
    case Edm::kDouble:
      append_be64(scratch, std::bit_cast<uint64_t>(value.real));
      return scratch;
  }
  return {};
}

bool read_payload(uint8_t type, std::string_view payload, Value& value) {
  if (type < static_cast<uint8_t>(Edm::kString) || type > static_cast<uint8_t>(Edm::kBinary))
    return false;
  value = Value::of_number(static_cast<Edm>(type), 0);
  switch (value.type) {
    case Edm::kString:
    case Edm::kBinary:
      value.bytes = payload;
      return true;
    case Edm::kGuid:
      value.bytes = payload;
      return payload.size() == 16;
    case Edm::kInt32:
    case Edm::kInt64:
    case Edm::kBoolean:
    case Edm::kDateTime: {
      uint64_t number = 0;
      if (!read_varint(payload, number) || !payload.empty()) return false;
      value.number = store::fields_internal::unzigzag(number);
      return true;
    }
    case Edm::kDouble:
      if (payload.size() != 8) return false;
      value.real = std::bit_cast<double>(read_be64(payload.data()));
      return true;
  }
  return false;
}

size_t value_size(const Value& value) {
  switch (value.type) {
    case Edm::kString:
      return utf16_length(value.bytes) * 2 + 4;
    case Edm::kBinary:
      return value.bytes.size() + 4;
    case Edm::kGuid:
      return 16;
    case Edm::kInt64:
    case Edm::kDouble:
    case Edm::kDateTime:
      return 8;
    case Edm::kInt32:
      return 4;
    case Edm::kBoolean:
      return 1;
  }
  return 0;
}
}  // namespace

void append_property(std::string& out, const Property& property) {
  append_bytes(out, property.name);
  out.push_back(static_cast<char>(property.value.type));
  std::string scratch;
  append_bytes(out, payload_of(property.value, scratch));
}

bool PropertyReader::next(Property& property) {
  if (rest_.empty() || damaged_) return false;
  damaged_ = true;
  if (!take_bytes(rest_, property.name) || rest_.empty()) return false;
  const auto type = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  std::string_view payload;
  if (!take_bytes(rest_, payload) || !read_payload(type, payload, property.value)) return false;
  damaged_ = false;
  return true;
}

std::optional<Value> Entity::find(std::string_view name) const {
  if (name == kPartitionKey) return Value::of_string(partition);
  if (name == kRowKey) return Value::of_string(row);
  if (name == kTimestamp) return Value::of_time(timestamp);
  PropertyReader reader(properties);
  for (Property property; reader.next(property);) {
    if (property.name == name) return property.value;
  }
  return {};
}

std::string encode_entity(Time timestamp, std::string_view properties) {
  std::string record(1, kEntityFormat);
  append_varint(record, static_cast<uint64_t>(timestamp.ticks));
  record.append(properties);
  return record;
}

std::optional<Entity> decode_entity(std::string_view partition, std::string_view row,
                                    std::string_view record) {
  if (record.empty() || record.front() != kEntityFormat) return {};
  record.remove_prefix(1);
  uint64_t ticks = 0;
  if (!read_varint(record, ticks)) return {};
  return Entity{partition, row, Time{static_cast<int64_t>(ticks)}, record};
}

bool is_well_formed(std::string_view record) {
  const auto entity = decode_entity({}, {}, record);
  if (!entity) return false;
  PropertyReader reader(entity->properties);
  for (Property property; reader.next(property);) {
  }
  return !reader.damaged();
}

std::string merge_properties(std::string_view before, std::string_view change) {
  std::vector<std::pair<Property, bool>> changes;  // and whether it has been written
  PropertyReader changed(change);
  for (Property property; changed.next(property);) changes.emplace_back(property, false);
  std::string merged;
  PropertyReader existing(before);
  for (Property property; existing.next(property);) {
    const auto found = std::find_if(changes.begin(), changes.end(), [&](const auto& candidate) {
      return candidate.first.name == property.name;
    });
    if (found != changes.end()) found->second = true;
    append_property(merged, found == changes.end() ? property : found->first);
  }
  for (const auto& [property, written] : changes) {
    if (!written) append_property(merged, property);
  }
  return merged;
}

size_t count_properties(std::string_view properties) {
  size_t count = 0;
  PropertyReader reader(properties);
  for (Property property; reader.next(property);) ++count;
  return count;
}

size_t entity_size(std::string_view partition, std::string_view row, std::string_view properties) {
  size_t size = 4 + (utf16_length(partition) + utf16_length(row)) * 2;
  PropertyReader reader(properties);
  for (Property property; reader.next(property);)
    size += 8 + utf16_length(property.name) * 2 + value_size(property.value);
  return size;
}

ShortText<63> entity_tag(Time timestamp) {
  const auto instant = date_time_text(timestamp);
  ShortText<63> tag;
  tag.append("W/\"datetime'");
  std::string_view rest = instant;
  for (size_t colon = 0; (colon = rest.find(':')) != std::string_view::npos;) {
    tag.append(rest.substr(0, colon)).append("%3A");
    rest.remove_prefix(colon + 1);
  }
  return tag.append(rest).append("'\"");
}

}  // namespace kyanite::table
