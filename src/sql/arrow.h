// The columns of a result in Arrow format, as a request declares them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite::sql {

enum class ArrowType { kInt64, kBool, kTimestampMs, kString, kDouble, kDecimal };
// "int64", "bool", "timestamp[ms]", "string", "double", "decimal".
std::optional<ArrowType> parse_arrow_type(std::string_view text);

inline constexpr int kMaxDecimalPrecision = 38;  // What 128 bits can hold.

struct ArrowField {
  ArrowType type = ArrowType::kString;
  std::string name;
  int precision = 0;  // of a decimal
  int scale = 0;
};
struct ArrowFormat {
  std::vector<ArrowField> schema;
};

}  // namespace kyanite::sql
