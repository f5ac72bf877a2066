#include "sql/value.h"

#include <charconv>
#include <cmath>

#include "base/bytes.h"
#include "sql/json.h"

namespace kyanite::sql {

namespace {

using Kind = Value::Kind;

std::optional<int64_t> parse_integer(std::string_view text) {
  text = trim(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  text = trim(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<bool> parse_boolean(std::string_view text) {
  text = trim(text);
  if (equals_ignoring_case(text, "true")) return true;
  if (equals_ignoring_case(text, "false")) return false;
  if (const auto number = parse_integer(text)) return *number != 0;
  return {};
}

std::optional<int64_t> truncate(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(value >= -kLimit && value < kLimit)) return {};
  return static_cast<int64_t>(value);
}

Evaluated<Value> to_int(const Value& value) {
  std::optional<int64_t> integer;
  switch (value.kind) {
    case Kind::kInt:
      return value;
    case Kind::kFloat:
      integer = truncate(value.real);
      break;
    case Kind::kBoolean:
      return Value::of(int64_t{value.boolean});
    case Kind::kString:
      integer = parse_integer(value.text);
      break;
    default:
      break;
  }
  if (!integer) return invalid_conversion();
  return Value::of(*integer);
}

Evaluated<Value> to_float(const Value& value) {
  switch (value.kind) {
    case Kind::kFloat:
      return value;
    case Kind::kInt:
      return Value::of(static_cast<double>(value.integer));
    case Kind::kBoolean:
      return Value::of(value.boolean ? 1.0 : 0.0);
    case Kind::kString:
      if (const auto real = parse_real(value.text)) return Value::of(*real);
      return invalid_conversion();
    default:
      return invalid_conversion();
  }
}

Evaluated<Value> to_timestamp(const Value& value) {
  if (value.kind == Kind::kTimestamp) return value;
  if (value.kind != Kind::kString) return invalid_conversion();
  const auto parsed = parse_timestamp(value.text);
  if (!parsed) return invalid_conversion();
  return Value::of(*parsed);
}

// A view of JSON is refused: only rows are written from it.
int precedence(Kind kind) {
  switch (kind) {
    case Kind::kString:
      return 0;
    case Kind::kBoolean:
      return 1;
    case Kind::kInt:
      return 2;
    case Kind::kFloat:
      return 3;
    case Kind::kTimestamp:
      return 4;
    default:
      return -1;
  }
}

template <class T>
int order(const T& one, const T& other) {
  return one < other ? -1 : (other < one ? 1 : 0);
}

int compare_numbers(const Value& one, const Value& other) {
  if (one.kind == Kind::kInt && other.kind == Kind::kInt) return order(one.integer, other.integer);
  const auto real = [](const Value& value) {
    return value.kind == Kind::kInt ? static_cast<double>(value.integer) : value.real;
  };
  return order(real(one), real(other));
}

}  // namespace

Value Value::missing() {
  Value out;
  out.kind = Kind::kMissing;
  return out;
}
Value Value::of(bool value) {
  Value out;
  out.kind = Kind::kBoolean;
  out.boolean = value;
  return out;
}
Value Value::of(int64_t value) {
  Value out;
  out.kind = Kind::kInt;
  out.integer = value;
  return out;
}
Value Value::of(double value) {
  Value out;
  out.kind = Kind::kFloat;
  out.real = value;
  return out;
}
Value Value::of(std::string_view value) {
  Value out;
  out.kind = Kind::kString;
  out.text = value;
  return out;
}
Value Value::of(const Timestamp& value) {
  Value out;
  out.kind = Kind::kTimestamp;
  out.integer = value.time.ticks;
  out.offset_minutes = static_cast<int16_t>(value.offset_minutes);
  return out;
}
Value Value::of(const JsonValue& value) {
  Value out;
  out.kind = Kind::kJson;
  out.json = &value;
  return out;
}

RowError invalid_conversion() { return {"InvalidTypeConversion", "Invalid type conversion."}; }
RowError invalid_argument(std::string_view description) {
  return {"InvalidArgument", std::string(description)};
}
RowError too_costly() {
  return {"QueryTooComplex", "Evaluating the expression on this record takes too long.", true};
}

Evaluated<Value> cast(const Value& value, Type type, Scratch& scratch) {
  if (value.absent()) return value;
  switch (type) {
    case Type::kInt:
      return to_int(value);
    case Type::kFloat:
      return to_float(value);
    case Type::kTimestamp:
      return to_timestamp(value);
    case Type::kBoolean: {
      auto boolean = to_boolean(value);
      if (!boolean) return boolean.error();
      return Value::of(*boolean);
    }
    case Type::kString:
      if (value.kind == Kind::kString) return value;
      return Value::of(scratch.keep(to_text(value)));
  }
  return invalid_conversion();
}

Evaluated<Value> to_number(const Value& value) {
  switch (value.kind) {
    case Kind::kInt:
    case Kind::kFloat:
      return value;
    case Kind::kBoolean:
      return Value::of(int64_t{value.boolean});
    case Kind::kString:
      if (const auto integer = parse_integer(value.text)) return Value::of(*integer);
      if (const auto real = parse_real(value.text)) return Value::of(*real);
      return invalid_conversion();
    default:
      return invalid_conversion();
  }
}

Evaluated<bool> to_boolean(const Value& value) {
  switch (value.kind) {
    case Kind::kBoolean:
      return value.boolean;
    case Kind::kInt:
      return value.integer != 0;
    case Kind::kFloat:
      return value.real != 0;
    case Kind::kString:
      if (const auto boolean = parse_boolean(value.text)) return *boolean;
      return invalid_conversion();
    default:
      return invalid_conversion();
  }
}

Evaluated<int> compare(const Value& one, const Value& other) {
  const int rank = std::max(precedence(one.kind), precedence(other.kind));
  if (precedence(one.kind) < 0 || precedence(other.kind) < 0) return invalid_conversion();
  if (rank == precedence(Kind::kString)) return order(one.text, other.text);
  if (rank == precedence(Kind::kTimestamp)) {
    const auto left = to_timestamp(one);
    if (!left) return left.error();
    const auto right = to_timestamp(other);
    if (!right) return right.error();
    return order(left->integer, right->integer);
  }
  if (rank == precedence(Kind::kBoolean)) {
    const auto left = to_boolean(one);
    if (!left) return left.error();
    const auto right = to_boolean(other);
    if (!right) return right.error();
    return order(*left, *right);
  }
  const auto left = to_number(one);
  if (!left) return left.error();
  const auto right = to_number(other);
  if (!right) return right.error();
  return compare_numbers(*left, *right);
}

void append_text(std::string& out, const Value& value) {
  switch (value.kind) {
    case Kind::kMissing:
    case Kind::kNull:
      return;
    case Kind::kBoolean:
      out += value.boolean ? "true" : "false";
      return;
    case Kind::kInt: {
      char digits[24];
      out.append(digits, std::to_chars(digits, digits + sizeof digits, value.integer).ptr);
      return;
    }
    case Kind::kFloat: {
      char digits[40];
      out.append(digits, std::to_chars(digits, digits + sizeof digits, value.real).ptr);
      return;
    }
    case Kind::kString:
      out += value.text;
      return;
    case Kind::kTimestamp:
      out += to_text(value.timestamp());
      return;
    case Kind::kJson:
      append_json(out, *value.json);
      return;
  }
}

std::string to_text(const Value& value) {
  std::string text;
  append_text(text, value);
  return text;
}

}  // namespace kyanite::sql
