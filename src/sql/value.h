// What expressions are made of. A value is small and copied freely; text and JSON in it are views
// into the record, the statement, or the Scratch of the row that is being worked on.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sql/limits.h"
#include "sql/timestamp.h"

namespace kyanite::sql {

struct JsonValue;

enum class Type { kInt, kFloat, kString, kTimestamp, kBoolean };

struct Value {
  enum class Kind : uint8_t {
    kMissing,  // A field that a JSON record does not have.
    kNull,
    kBoolean,
    kInt,
    kFloat,
    kString,
    kTimestamp,
    kJson,  // An object or an array.
  };
  Kind kind = Kind::kNull;
  bool boolean = false;
  int16_t offset_minutes = 0;  // of a timestamp
  int64_t integer = 0;         // or the ticks of a timestamp
  double real = 0;
  std::string_view text;
  const JsonValue* json = nullptr;

  static Value missing();
  static Value of(bool value);
  static Value of(int64_t value);
  static Value of(double value);
  static Value of(std::string_view value);
  static Value of(const Timestamp& value);
  static Value of(const JsonValue& value);

  bool absent() const { return kind == Kind::kMissing || kind == Kind::kNull; }
  Timestamp timestamp() const { return {Time{integer}, offset_minutes}; }
};

// Why a row has no result. Such a row is left out and reported, and the query goes on, unless the
// error is fatal.
struct RowError {
  std::string name;
  std::string description;
  bool fatal = false;
};
RowError invalid_conversion();
RowError invalid_argument(std::string_view description);

template <class T>
using Evaluated = Result<T, RowError>;

// What the work on one row makes and costs; cleared before the next.
class Scratch {
 public:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  // False when the row has become too costly: whoever gets this gives up with too_costly().
  bool spend(uint64_t work) {
    spent_ += work;
    return spent_ <= kMaxRowWork;
  }
  uint64_t spent() const { return spent_; }
  void clear() {
    texts_.clear();
    spent_ = 0;
  }

 private:
  std::deque<std::string> texts_;  // They do not move.
  uint64_t spent_ = 0;
};
RowError too_costly();

// The value as one of the type, by the rules of CAST. Null and missing stay what they are.
Evaluated<Value> cast(const Value& value, Type type, Scratch& scratch);
// As a number: an integer where it is one.
Evaluated<Value> to_number(const Value& value);
Evaluated<bool> to_boolean(const Value& value);

// Less than, equal to or greater than 0. Of different types the lower in precedence becomes the
// higher: string, boolean, int, float, timestamp. Neither is null or missing.
Evaluated<int> compare(const Value& one, const Value& other);

// As text, as CAST to STRING and CSV have it; "" for null.
std::string to_text(const Value& value);
void append_text(std::string& out, const Value& value);

}  // namespace kyanite::sql
