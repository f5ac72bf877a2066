// What an expression is worth for a row.
#pragma once

#include "base/clock.h"
#include "sql/records.h"
#include "sql/statement.h"
#include "sql/value.h"

namespace kyanite::sql {

// Null is neither true nor false; a field that is missing counts as null but to IS MISSING. `now`
// is what UTCNOW() says.
Evaluated<Value> evaluate(const Expression& expression, const Row& row, Scratch& scratch, Time now);

// Whether the row passes: an expression that is null does not.
Evaluated<bool> is_true(const Expression& where, const Row& row, Scratch& scratch, Time now);

// An aggregate over the values it is given, one a row.
class Accumulator {
 public:
  explicit Accumulator(Aggregate aggregate) : aggregate_(aggregate) {}
  // The error of a value that cannot be taken in; what was there before stays.
  std::optional<RowError> add(const Value& value);
  Value result() const;

 private:
  std::optional<RowError> add_number(const Value& value);
  std::optional<RowError> keep_extreme(const Value& value);

  const Aggregate aggregate_;
  int64_t count_ = 0;
  int64_t integers_ = 0;  // the sum, as long as all were integers
  double reals_ = 0;
  bool real_ = false;
  Value extreme_;
  std::string text_;  // of the extreme
};

}  // namespace kyanite::sql
