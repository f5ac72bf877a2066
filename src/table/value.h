// The values of entity properties: the primitive Edm types of the Table service, how they compare,
// and their text forms.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "wire/date.h"

namespace kyanite::table {

// The numbers are stored; see docs/formats/table.md.
enum class Edm : uint8_t {
  kString = 1,
  kInt32 = 2,
  kInt64 = 3,
  kDouble = 4,
  kBoolean = 5,
  kDateTime = 6,
  kGuid = 7,
  kBinary = 8,
};

std::string_view name(Edm type);  // "Edm.String"
std::optional<Edm> parse_edm(std::string_view text);

// Does not own its bytes.
struct Value {
  Edm type = Edm::kString;
  std::string_view bytes;  // kString in UTF-8, kBinary, kGuid (16 bytes in the order of its text)
  int64_t number = 0;      // kInt32, kInt64, kBoolean (0 or 1), kDateTime (ticks)
  double real = 0;         // kDouble

  static Value of_string(std::string_view text) { return Value{Edm::kString, text, 0, 0}; }
  static Value of_bytes(Edm type, std::string_view bytes) { return Value{type, bytes, 0, 0}; }
  static Value of_number(Edm type, int64_t number) { return Value{type, {}, number, 0}; }
  static Value of_real(double real) { return Value{Edm::kDouble, {}, 0, real}; }
  static Value of_time(Time time) { return of_number(Edm::kDateTime, time.ticks); }
};

// Numbers of all three types compare by their exact value, everything else with its own type only:
// strings and binaries by their bytes, false before true. Unordered: NaN, or types that do not
// compare.
std::partial_ordering compare(const Value& a, const Value& b);

// Any form .NET writes to its 16 bytes, and the bytes as dashed lower-case text.
std::optional<std::string> parse_guid_bytes(std::string_view text);
std::string guid_text(std::string_view bytes);

// A date of the range the service can hold, 1601-01-01 to 9999-12-31.
std::optional<Time> parse_date_time(std::string_view text);
// "2022-05-06T00:44:28.820498Z": up to seven digits of fraction, without zeros at the end.
wire::DateText date_time_text(Time time);

// Decimal, or NaN, Infinity, -Infinity (also INF, -INF).
std::optional<double> parse_double(std::string_view text);

// The length of UTF-8 text in the UTF-16 units the service's limits count.

}  // namespace kyanite::table
