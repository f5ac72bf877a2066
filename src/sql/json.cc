#include "sql/json.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "base/bytes.h"
#include "sql/json_parser.h"
#include "wire/json.h"

namespace kyanite::sql {

namespace {

void append_string(std::string& out, std::string_view text) {
  out += '"';
  wire::append_json_text(out, text);
  out += '"';
}

const JsonValue* find_member(const JsonValue& object, const Name& name) {
  if (object.kind != JsonValue::Kind::kObject) return nullptr;
  for (const auto* member = object.begin(); member != object.end(); member = member->after()) {
    if (name.matches(member->key)) return member;
  }
  return nullptr;
}

const JsonValue* find_element(const JsonValue& array, size_t index) {
  if (array.kind != JsonValue::Kind::kArray) return nullptr;
  const auto* element = array.begin();
  for (; element != array.end() && index > 0; --index) element = element->after();
  return element == array.end() ? nullptr : element;
}

const JsonValue* follow(const JsonValue& value, const PathStep& step) {
  return step.kind == PathStep::Kind::kMember ? find_member(value, step.name)
                                              : find_element(value, step.index);
}

// All values that the path leads to, in their order.
void find_all(const JsonValue& value, const PathStep* step, const PathStep* end,
              std::vector<const JsonValue*>& out) {
  if (step == end) {
    out.push_back(&value);
    return;
  }
  if (step->kind != PathStep::Kind::kAll) {
    if (const auto* inner = follow(value, *step)) find_all(*inner, step + 1, end, out);
    return;
  }
  if (value.kind != JsonValue::Kind::kArray) return;
  for (const auto* element = value.begin(); element != value.end(); element = element->after())
    find_all(*element, step + 1, end, out);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

void append_json(std::string& out, const JsonValue& value) {
  using Kind = JsonValue::Kind;
  switch (value.kind) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBoolean:
      out += value.boolean ? "true" : "false";
      return;
    case Kind::kNumber:
      out += value.text;
      return;
    case Kind::kString:
      append_string(out, value.text);
      return;
    case Kind::kArray:
    case Kind::kObject:
      break;
  }
  const bool object = value.kind == Kind::kObject;
  out += object ? '{' : '[';
  for (const auto* inner = value.begin(); inner != value.end(); inner = inner->after()) {
    if (inner != value.begin()) out += ',';
    if (object) {
      append_string(out, inner->key);
      out += ':';
    }
    append_json(out, *inner);
  }
  out += object ? '}' : ']';
}

Value to_value(const JsonValue& json) {
  using Kind = JsonValue::Kind;
  switch (json.kind) {
    case Kind::kNull:
      return {};
    case Kind::kBoolean:
      return Value::of(json.boolean);
    case Kind::kString:
      return Value::of(json.text);
    case Kind::kNumber: {
      const char* end = json.text.data() + json.text.size();
      int64_t integer = 0;
      if (const auto parsed = std::from_chars(json.text.data(), end, integer);
          parsed.ec == std::errc() && parsed.ptr == end) {
        return Value::of(integer);
      }
      double real = 0;
      if (std::from_chars(json.text.data(), end, real).ec == std::errc()) return Value::of(real);
      return Value::of(json.text);  // No double is so large: only its text is left of it.
    }
    case Kind::kArray:
    case Kind::kObject:
      return Value::of(json);
  }
  return {};
}

JsonReader::JsonReader(std::vector<PathStep> from, std::string separator)
    : from_(std::move(from)), separator_(std::move(separator)) {}
JsonReader::~JsonReader() = default;

Evaluated<Value> JsonReader::JsonRow::column(const Column& column) const {
  const JsonValue* at = value;
  for (const auto& step : column.path) {
    at = follow(*at, step);
    if (at == nullptr) return Value::missing();
  }
  return to_value(*at);
}

void JsonReader::JsonRow::all(std::vector<Named>& out) const {
  if (value->kind != JsonValue::Kind::kObject) {
    out.push_back({"", to_value(*value)});
    return;
  }
  for (const auto* member = value->begin(); member != value->end(); member = member->after())
    out.push_back({member->key, to_value(*member)});
}

const Row& JsonReader::row(size_t index) {
  row_.value = rows_.at(index);
  return row_;
}

size_t JsonReader::skip_between(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    const char c = bytes[at];
    if (is_blank(c)) {
      ++at;
    } else if (!separator_.empty() && bytes.substr(at).starts_with(separator_)) {
      at += separator_.size();
    } else if (in_array_ && needs_comma_ && c == ',') {
      needs_comma_ = false;
      ++at;
    } else if (in_array_ && c == ']') {
      in_array_ = false;
      ++at;
    } else if (!in_array_ && c == '[') {
      in_array_ = true;
      needs_comma_ = false;
      ++at;
    } else {
      break;
    }
  }
  return at;
}

// A number or a word where a record should be is reported by what follows it.
RecordReader::Reading JsonReader::found_scalar(std::string_view bytes, size_t at, uint64_t offset,
                                               bool last) {
  while (at < bytes.size() && is_blank(bytes[at])) ++at;
  if (at == bytes.size() && !last) return Reading::kMore;
  error_ = unexpected_token(bytes, at, offset, {"{", "["});
  return Reading::kError;
}

RecordReader::Reading JsonReader::next(std::string_view bytes, uint64_t offset, bool last,
                                       size_t& used) {
  used = before_ = skip_between(bytes);
  values_.clear();
  texts_.clear();
  rows_.clear();
  if (used == bytes.size()) {
    if (!last) return Reading::kMore;
    if (!in_array_) return Reading::kEnd;
    error_ = unexpected_token(bytes, used, offset, {"]"});
    return Reading::kError;
  }
  if (in_array_ && needs_comma_) {
    error_ = unexpected_token(bytes, used, offset, {",", "]"});
    return Reading::kError;
  }
  JsonParser parser(bytes, used, offset, last, values_, texts_);
  const auto parsed = parser.parse();
  if (parsed == JsonParser::Parsed::kMore) return Reading::kMore;
  if (parsed == JsonParser::Parsed::kError) {
    error_ = parser.error();
    return Reading::kError;
  }
  const auto kind = values_.front().kind;
  if (!in_array_ && kind != JsonValue::Kind::kObject)
    return found_scalar(bytes, parser.at(), offset, last);
  used = parser.at();
  needs_comma_ = true;
  find_all(values_.front(), from_.data(), from_.data() + from_.size(), rows_);
  return Reading::kRecord;
}

}  // namespace kyanite::sql
