#include "sql/functions.h"

#include <cmath>
#include <string>

#include "base/bytes.h"

namespace kyanite::sql {

namespace {

using Kind = Value::Kind;

RowError overflow() { return {"ArithmeticOverflow", "The result is out of range."}; }
RowError divided_by_zero() { return {"DivideByZero", "A number is divided by zero."}; }

Evaluated<Value> integer_arithmetic(Op op, int64_t left, int64_t right) {
  int64_t result = 0;
  bool failed = false;
  switch (op) {
    case Op::kAdd:
      failed = __builtin_add_overflow(left, right, &result);
      break;
    case Op::kSubtract:
      failed = __builtin_sub_overflow(left, right, &result);
      break;
    case Op::kMultiply:
      failed = __builtin_mul_overflow(left, right, &result);
      break;
    default:
      if (right == 0) return divided_by_zero();
      // The lowest number has no positive counterpart.
      if (right == -1) return op == Op::kDivide ? negate(Value::of(left)) : Value::of(int64_t{0});
      result = op == Op::kDivide ? left / right : left % right;
  }
  if (failed) return overflow();
  return Value::of(result);
}

Evaluated<Value> real_arithmetic(Op op, double left, double right) {
  double result = 0;
  switch (op) {
    case Op::kAdd:
      result = left + right;
      break;
    case Op::kSubtract:
      result = left - right;
      break;
    case Op::kMultiply:
      result = left * right;
      break;
    default:
      if (right == 0) return divided_by_zero();
      result = op == Op::kDivide ? left / right : std::fmod(left, right);
  }
  if (!std::isfinite(result)) return overflow();
  return Value::of(result);
}

double real_of(const Value& number) {
  return number.kind == Kind::kInt ? static_cast<double>(number.integer) : number.real;
}

Evaluated<Value> add_days(Op op, const Value& at, const Value& days) {
  constexpr double kTicksPerDay = 86400.0 * static_cast<double>(kTicksPerSecond);
  const auto number = to_number(days);
  if (!number) return number.error();
  if (op != Op::kAdd && op != Op::kSubtract) return invalid_conversion();
  const double seconds = real_of(*number) * kTicksPerDay / static_cast<double>(kTicksPerSecond);
  if (!(std::fabs(seconds) < 1e12)) return overflow();
  const auto whole = static_cast<int64_t>(op == Op::kAdd ? seconds : -seconds);
  const auto moved = date_add(DatePart::kSecond, whole, at.timestamp());
  if (!moved) return overflow();
  return Value::of(*moved);
}

int64_t count_characters(std::string_view text) {
  int64_t count = 0;
  for (const char c : text) count += (static_cast<uint8_t>(c) & 0xc0) != 0x80;
  return count;
}

Evaluated<std::string_view> text_of(const Value& value, Scratch& scratch) {
  auto text = cast(value, Type::kString, scratch);
  if (!text) return text.error();
  if (!scratch.spend(text->text.size())) return too_costly();
  return text->text;
}

Evaluated<int64_t> integer_of(const Value& value, Scratch& scratch) {
  auto integer = cast(value, Type::kInt, scratch);
  if (!integer) return integer.error();
  return integer->integer;
}

Evaluated<Timestamp> timestamp_of(const Value& value, Scratch& scratch) {
  auto at = cast(value, Type::kTimestamp, scratch);
  if (!at) return at.error();
  return at->timestamp();
}

Value with_case(std::string_view text, bool upper, Scratch& scratch) {
  std::string changed = ascii_lower(text);
  if (upper) {
    changed = text;
    for (char& c : changed) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
  }
  return Value::of(scratch.keep(std::move(changed)));
}

// The first character is at 0, as the reference has it.
Evaluated<Value> substring(std::string_view text, std::span<const Value> arguments,
                           Scratch& scratch) {
  const auto start = integer_of(arguments[1], scratch);
  if (!start) return start.error();
  int64_t end = INT64_MAX;
  if (arguments.size() == 3) {
    const auto length = integer_of(arguments[2], scratch);
    if (!length) return length.error();
    if (*length < 0) return invalid_argument("The length of a substring is negative.");
    if (__builtin_add_overflow(*start, *length, &end)) end = INT64_MAX;
  }
  size_t from = text.size();
  size_t to = text.size();
  size_t at = 0;
  for (int64_t index = 0; at < text.size(); ++index) {
    if (index >= *start && from > at) from = at;
    if (index >= end) {
      to = at;
      break;
    }
    at += character_bytes(text, at);
  }
  if (end <= 0 || from >= to) return Value::of(std::string_view());
  return Value::of(text.substr(from, to - from));
}

bool has_character(std::string_view characters, std::string_view character) {
  for (size_t at = 0; at < characters.size();) {
    const size_t size = character_bytes(characters, at);
    if (characters.substr(at, size) == character) return true;
    at += size;
  }
  return false;
}

Evaluated<Value> trimmed(Op op, std::string_view text, std::string_view characters,
                         Scratch& scratch) {
  const auto spend = [&] { return scratch.spend(characters.size()); };
  while (op != Op::kTrimTrailing && !text.empty()) {
    const size_t size = character_bytes(text, 0);
    if (!spend()) return too_costly();
    if (!has_character(characters, text.substr(0, size))) break;
    text.remove_prefix(size);
  }
  while (op != Op::kTrimLeading && !text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80) --at;
    if (!spend()) return too_costly();
    if (!has_character(characters, text.substr(at))) break;
    text.remove_suffix(text.size() - at);
  }
  return Value::of(text);
}

Evaluated<Value> call_string_function(Op op, std::span<const Value> arguments, Scratch& scratch) {
  const auto text = text_of(arguments[0], scratch);
  if (!text) return text.error();
  switch (op) {
    case Op::kCharLength:
      return Value::of(count_characters(*text));
    case Op::kLower:
    case Op::kUpper:
      return with_case(*text, op == Op::kUpper, scratch);
    case Op::kSubstring:
      return substring(*text, arguments, scratch);
    default:
      break;
  }
  std::string_view characters = " ";
  if (arguments.size() == 2) {
    const auto given = text_of(arguments[1], scratch);
    if (!given) return given.error();
    characters = *given;
  }
  return trimmed(op, *text, characters, scratch);
}

Evaluated<Value> call_date_function(const Expression& function, std::span<const Value> arguments,
                                    Scratch& scratch) {
  const auto last =
      timestamp_of(arguments[function.op == Op::kToString ? 0 : arguments.size() - 1], scratch);
  if (!last) return last.error();
  switch (function.op) {
    case Op::kExtract:
      return Value::of(extract(function.part, *last));
    case Op::kDateDiff: {
      const auto first = timestamp_of(arguments[0], scratch);
      if (!first) return first.error();
      return Value::of(date_diff(function.part, *first, *last));
    }
    case Op::kDateAdd: {
      const auto quantity = integer_of(arguments[0], scratch);
      if (!quantity) return quantity.error();
      const auto moved = date_add(function.part, *quantity, *last);
      if (!moved) return overflow();
      return Value::of(*moved);
    }
    case Op::kToString: {
      const auto letters = text_of(arguments[1], scratch);
      if (!letters) return letters.error();
      auto text = format(*last, *letters);
      if (!text) return invalid_argument("The format of TO_STRING is not known.");
      return Value::of(scratch.keep(std::move(*text)));
    }
    default:
      return Value::of(*last);
  }
}

}  // namespace

size_t character_bytes(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) ++end;
  return end - at;
}

Evaluated<Value> negate(const Value& value) {
  if (value.absent()) return Value();
  const auto number = to_number(value);
  if (!number) return number.error();
  if (number->kind == Kind::kFloat) return Value::of(-number->real);
  if (number->integer == INT64_MIN) return overflow();
  return Value::of(-number->integer);
}

Evaluated<Value> arithmetic(Op op, const Value& left, const Value& right) {
  if (left.absent() || right.absent()) return Value();
  if (left.kind == Kind::kTimestamp) return add_days(op, left, right);
  if (right.kind == Kind::kTimestamp && op == Op::kAdd) return add_days(op, right, left);
  const auto one = to_number(left);
  if (!one) return one.error();
  const auto other = to_number(right);
  if (!other) return other.error();
  if (one->kind == Kind::kInt && other->kind == Kind::kInt)
    return integer_arithmetic(op, one->integer, other->integer);
  return real_arithmetic(op, real_of(*one), real_of(*other));
}

Evaluated<Value> call_function(const Expression& function, std::span<const Value> arguments,
                               Scratch& scratch) {
  for (const auto& argument : arguments) {
    if (argument.absent()) return Value();
  }
  switch (function.op) {
    case Op::kCharLength:
    case Op::kLower:
    case Op::kUpper:
    case Op::kSubstring:
    case Op::kTrimLeading:
    case Op::kTrimTrailing:
    case Op::kTrimBoth:
      return call_string_function(function.op, arguments, scratch);
    default:
      return call_date_function(function, arguments, scratch);
  }
}

}  // namespace kyanite::sql
