#include "table/json_entity.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "table/names.h"

namespace kyanite::table {

namespace {
namespace dom = simdjson::dom;
using wire::Code;

constexpr std::string_view kTypeSuffix = "@odata.type";

// What the service says to JSON it cannot make sense of.
wire::Error bad_input() {
  return wire::Error(Code::kInvalidInput)
      .saying("An error occurred while processing this request.");
}

struct Member {
  std::string_view name;
  dom::element value;
};
struct Annotation {
  std::string_view property;
  std::string_view type;
};
struct Members {
  std::vector<Member> values;
  std::vector<Annotation> types;  // sorted by property

  std::optional<std::string_view> type_of(std::string_view property) const {
    const auto found = std::lower_bound(types.begin(), types.end(), property,
                                        [](const Annotation& annotation, std::string_view name) {
                                          return annotation.property < name;
                                        });
    if (found == types.end() || found->property != property) return {};
    return found->type;
  }
};

// Splits values from annotations; what else OData may add says nothing that is kept.
wire::Result<Members> collect(const dom::object& object) {
  // Custom properties, the three of the system, and as many names that only annotate.
  constexpr size_t kMost = kMaxProperties + 3;
  Members members;
  for (const auto& field : object) {
    const std::string_view name = field.key;
    if (name.starts_with("odata.")) continue;
    if (name.ends_with(kTypeSuffix)) {
      std::string_view type;
      if (field.value.get(type) != simdjson::SUCCESS) return bad_input();
      members.types.push_back({name.substr(0, name.size() - kTypeSuffix.size()), type});
      if (members.types.size() > kMost) return wire::Error(Code::kTooManyProperties);
    } else if (name.find("@odata.") == std::string_view::npos) {
      members.values.push_back({name, field.value});
      if (members.values.size() > kMost) return wire::Error(Code::kTooManyProperties);
    }
  }
  std::sort(members.types.begin(), members.types.end(),
            [](const Annotation& a, const Annotation& b) { return a.property < b.property; });
  return members;
}

wire::Result<void> check_unique(const std::vector<Member>& members) {
  std::vector<std::string_view> names;
  names.reserve(members.size());
  for (const Member& member : members) names.push_back(member.name);
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end())
    return wire::Error(Code::kDuplicatePropertiesSpecified);
  return {};
}

bool fits_int32(int64_t number) {
  return number >= std::numeric_limits<int32_t>::min() &&
         number <= std::numeric_limits<int32_t>::max();
}

wire::Result<Value> from_text(Edm type, std::string_view text, std::string& scratch) {
  Value value = Value::of_number(type, 0);
  switch (type) {
    case Edm::kString:
      value.bytes = text;
      return value;
    case Edm::kInt32:
    case Edm::kInt64: {
      const auto number = parse_int(text);
      if (!number || (type == Edm::kInt32 && !fits_int32(*number))) return bad_input();
      value.number = *number;
      return value;
    }
    case Edm::kDouble: {
      const auto number = parse_double(text);
      if (!number) return bad_input();
      value.real = *number;
      return value;
    }
    case Edm::kBoolean:
      if (!equals_ignoring_case(text, "true") && !equals_ignoring_case(text, "false"))
        return bad_input();
      value.number = text.size() == 4 ? 1 : 0;
      return value;
    case Edm::kDateTime: {
      const auto time = parse_date_time(text);
      if (!time) return bad_input();
      value.number = time->ticks;
      return value;
    }
    case Edm::kGuid: {
      auto bytes = parse_guid_bytes(text);
      if (!bytes) return bad_input();
      value.bytes = scratch = std::move(*bytes);
      return value;
    }
    case Edm::kBinary: {
      auto bytes = unbase64(text);
      if (!bytes) return bad_input();
      value.bytes = scratch = std::move(*bytes);
      return value;
    }
  }
  return bad_input();
}

// A JSON number without annotation is Int32 when it is whole and fits, else Double.
wire::Result<Value> from_number(std::optional<Edm> type, dom::element element) {
  int64_t whole = 0;
  const bool is_whole = element.get(whole) == simdjson::SUCCESS;
  Value value;
  value.type = type.value_or(is_whole && fits_int32(whole) ? Edm::kInt32 : Edm::kDouble);
  if (value.type == Edm::kDouble) {
    if (element.get(value.real) != simdjson::SUCCESS) return bad_input();
    return value;
  }
  const bool integer_type = value.type == Edm::kInt64 || value.type == Edm::kInt32;
  if (!integer_type || !is_whole || (value.type == Edm::kInt32 && !fits_int32(whole)))
    return bad_input();
  value.number = whole;
  return value;
}

wire::Result<Value> to_value(std::optional<Edm> type, dom::element element, std::string& scratch) {
  switch (element.type()) {
    case dom::element_type::STRING:
      return from_text(type.value_or(Edm::kString), std::string_view(element), scratch);
    case dom::element_type::BOOL:
      if (type && *type != Edm::kBoolean) return bad_input();
      return Value::of_number(Edm::kBoolean, bool(element) ? 1 : 0);
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
    case dom::element_type::DOUBLE:
      return from_number(type, element);
    case dom::element_type::NULL_VALUE:
    case dom::element_type::ARRAY:
    case dom::element_type::OBJECT:
      return bad_input();
  }
  return bad_input();
}

wire::Result<void> check_value(const Value& value) {
  const bool too_large =
      (value.type == Edm::kString && utf16_length(value.bytes) > kMaxStringLength) ||
      (value.type == Edm::kBinary && value.bytes.size() > kMaxBinaryBytes);
  if (too_large) return wire::Error(Code::kPropertyValueTooLarge);
  return {};
}

wire::Result<void> take_key(const Member& member, std::optional<std::string>& key) {
  std::string_view text;
  if (member.value.get(text) != simdjson::SUCCESS) return bad_input();
  key = std::string(text);
  return {};
}

wire::Result<void> take_property(const Members& members, const Member& member,
                                 std::string& properties) {
  if (auto valid = check_property_name(member.name); !valid) return valid;
  std::optional<Edm> type;
  if (const auto named = members.type_of(member.name)) {
    type = parse_edm(*named);
    if (!type) return bad_input();
  }
  if (member.value.is_null()) return {};
  std::string scratch;
  auto value = to_value(type, member.value, scratch);
  if (!value) return value.error();
  if (auto fits = check_value(*value); !fits) return fits;
  append_property(properties, {member.name, *value});
  return {};
}

// The parser keeps its memory between documents; each thread has one.
wire::Result<dom::object> parse_object(std::string_view json) {
  thread_local dom::parser parser;
  dom::element root;
  dom::object object;
  if (json.empty() || parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS ||
      root.get(object) != simdjson::SUCCESS) {
    return bad_input();
  }
  return object;
}
}  // namespace

wire::Result<EntityInput> parse_entity(std::string_view json) {
  auto object = parse_object(json);
  if (!object) return object.error();
  auto members = collect(*object);
  if (!members) return members.error();
  if (auto unique = check_unique(members->values); !unique) return unique.error();
  EntityInput input;
  size_t custom = 0;
  for (const Member& member : members->values) {
    if (member.name == kTimestamp) continue;
    if (member.name == kPartitionKey || member.name == kRowKey) {
      if (member.value.is_null()) continue;
      auto taken = take_key(member, member.name == kRowKey ? input.row : input.partition);
      if (!taken) return taken.error();
      continue;
    }
    if (++custom > kMaxProperties) return wire::Error(Code::kTooManyProperties);
    if (auto taken = take_property(*members, member, input.properties); !taken)
      return taken.error();
  }
  return input;
}

wire::Result<std::string> parse_table_name(std::string_view json) {
  auto object = parse_object(json);
  if (!object) return object.error();
  std::string_view name;
  if ((*object)["TableName"].get(name) != simdjson::SUCCESS) return bad_input();
  return std::string(name);
}

}  // namespace kyanite::table
