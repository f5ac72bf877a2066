#include "sql/evaluate.h"

#include <cmath>
#include <vector>

#include "sql/functions.h"

namespace kyanite::sql {

namespace {

using Kind = Value::Kind;

class Evaluator {
 public:
  Evaluator(const Row& row, Scratch& scratch, Time now) : row_(row), scratch_(scratch), now_(now) {}

  Evaluated<Value> evaluate(const Expression& expression) {
    if (!scratch_.spend(1)) return too_costly();
    const auto& arguments = expression.arguments;
    switch (expression.op) {
      case Op::kLiteral:
        if (expression.literal.kind == Kind::kString) return Value::of(expression.text);
        return expression.literal;
      case Op::kColumn:
        return row_.column(expression.column);
      case Op::kAnd:
      case Op::kOr:
        return join(expression);
      case Op::kNot:
        return negation(arguments[0]);
      case Op::kEqual:
      case Op::kNotEqual:
      case Op::kLess:
      case Op::kLessOrEqual:
      case Op::kGreater:
      case Op::kGreaterOrEqual:
        return comparison(expression);
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kMultiply:
      case Op::kDivide:
      case Op::kModulo:
        return both(arguments, [&](const Value& left, const Value& right) {
          return arithmetic(expression.op, left, right);
        });
      case Op::kBetween:
        return between(arguments);
      case Op::kIn:
        return in(arguments);
      case Op::kLike:
        return like(arguments);
      case Op::kCoalesce:
        return coalesce(arguments);
      case Op::kNullIf:
        return null_if(arguments);
      case Op::kUtcNow:
        return Value::of(Timestamp{now_, 0});
      case Op::kNegate:
      case Op::kCast:
      case Op::kIsNull:
      case Op::kIsMissing:
        return of_one(expression);
      default:
        return function(expression);
    }
  }

 private:
  template <class Combine>
  Evaluated<Value> both(const std::vector<Expression>& arguments, Combine combine) {
    auto left = evaluate(arguments[0]);
    if (!left) return left;
    auto right = evaluate(arguments[1]);
    if (!right) return right;
    return combine(*left, *right);
  }

  Evaluated<Value> of_one(const Expression& expression) {
    auto value = evaluate(expression.arguments[0]);
    if (!value) return value;
    switch (expression.op) {
      case Op::kNegate:
        return negate(*value);
      case Op::kIsNull:
        return Value::of(value->absent());
      case Op::kIsMissing:
        return Value::of(value->kind == Kind::kMissing);
      default:
        return cast(*value, expression.type, scratch_);
    }
  }

  // Of truths, decided as soon as one decides; of integers, bit by bit as the reference has it.
  Evaluated<Value> join(const Expression& expression) {
    const bool is_and = expression.op == Op::kAnd;
    bool unknown = false;
    std::optional<int64_t> bits;
    bool all_integers = true;
    for (const auto& argument : expression.arguments) {
      auto value = evaluate(argument);
      if (!value) return value;
      if (value->absent()) {
        unknown = true;
        continue;
      }
      if (value->kind == Kind::kInt) {
        const int64_t so_far = bits.value_or(value->integer);
        bits = is_and ? so_far & value->integer : so_far | value->integer;
        if (all_integers) continue;
      }
      // What was integers up to here is a truth from now on.
      if (all_integers && bits && (*bits != 0) != is_and) return Value::of(!is_and);
      all_integers = false;
      const auto truth = to_boolean(*value);
      if (!truth) return truth.error();
      if (*truth != is_and) return Value::of(!is_and);
    }
    if (unknown) return Value();
    if (all_integers && bits) return Value::of(*bits);
    return Value::of(is_and);
  }

  Evaluated<Value> negation(const Expression& argument) {
    auto value = evaluate(argument);
    if (!value || value->absent()) return value;
    const auto truth = to_boolean(*value);
    if (!truth) return truth.error();
    return Value::of(!*truth);
  }

  // Nothing when one of them is null.
  Evaluated<std::optional<int>> order(const Value& left, const Value& right) {
    if (left.absent() || right.absent()) return std::optional<int>();
    if (!scratch_.spend(std::min(left.text.size(), right.text.size()))) return too_costly();
    const auto compared = compare(left, right);
    if (!compared) return compared.error();
    return std::optional<int>(*compared);
  }

  static bool holds(Op op, int order) {
    switch (op) {
      case Op::kEqual:
        return order == 0;
      case Op::kNotEqual:
        return order != 0;
      case Op::kLess:
        return order < 0;
      case Op::kLessOrEqual:
        return order <= 0;
      case Op::kGreater:
        return order > 0;
      default:
        return order >= 0;
    }
  }

  Evaluated<Value> comparison(const Expression& expression) {
    return both(expression.arguments,
                [&](const Value& left, const Value& right) -> Evaluated<Value> {
                  const auto compared = order(left, right);
                  if (!compared) return compared.error();
                  if (!*compared) return Value();
                  return Value::of(holds(expression.op, **compared));
                });
  }

  Evaluated<Value> between(const std::vector<Expression>& arguments) {
    auto value = evaluate(arguments[0]);
    if (!value) return value;
    auto from = evaluate(arguments[1]);
    if (!from) return from;
    auto to = evaluate(arguments[2]);
    if (!to) return to;
    const auto low = order(*value, *from);
    if (!low) return low.error();
    const auto high = order(*value, *to);
    if (!high) return high.error();
    if ((*low && **low < 0) || (*high && **high > 0)) return Value::of(false);
    if (!*low || !*high) return Value();
    return Value::of(true);
  }

  Evaluated<Value> in(const std::vector<Expression>& arguments) {
    auto value = evaluate(arguments[0]);
    if (!value) return value;
    bool unknown = value->absent();
    for (size_t i = 1; i < arguments.size(); ++i) {
      auto candidate = evaluate(arguments[i]);
      if (!candidate) return candidate;
      const auto compared = order(*value, *candidate);
      if (!compared) return compared.error();
      if (!*compared) {
        unknown = true;
      } else if (**compared == 0) {
        return Value::of(true);
      }
    }
    if (unknown) return Value();
    return Value::of(false);
  }

  Evaluated<Value> like(const std::vector<Expression>& arguments) {
    std::string_view texts[3];
    for (size_t i = 0; i < arguments.size(); ++i) {
      auto value = evaluate(arguments[i]);
      if (!value) return value;
      if (value->absent()) return Value();
      auto text = cast(*value, Type::kString, scratch_);
      if (!text) return text;
      texts[i] = text->text;
    }
    if (arguments.size() == 3 && texts[2].size() != 1)
      return invalid_argument("ESCAPE takes one character.");
    const auto matched =
        is_like(texts[0], texts[1], arguments.size() == 3 ? texts[2].front() : '\0', scratch_);
    if (!matched) return matched.error();
    return Value::of(*matched);
  }

  Evaluated<Value> coalesce(const std::vector<Expression>& arguments) {
    for (const auto& argument : arguments) {
      auto value = evaluate(argument);
      if (!value || !value->absent()) return value;
    }
    return Value();
  }

  Evaluated<Value> null_if(const std::vector<Expression>& arguments) {
    return both(arguments, [&](const Value& left, const Value& right) -> Evaluated<Value> {
      const auto compared = order(left, right);
      if (!compared) return compared.error();
      if (*compared && **compared == 0) return Value();
      return left;
    });
  }

  Evaluated<Value> function(const Expression& expression) {
    Value values[3];
    for (size_t i = 0; i < expression.arguments.size(); ++i) {
      auto value = evaluate(expression.arguments[i]);
      if (!value) return value;
      values[i] = *value;
    }
    return call_function(expression, std::span(values, expression.arguments.size()), scratch_);
  }

  const Row& row_;
  Scratch& scratch_;
  const Time now_;
};

}  // namespace

Evaluated<Value> evaluate(const Expression& expression, const Row& row, Scratch& scratch,
                          Time now) {
  return Evaluator(row, scratch, now).evaluate(expression);
}

Evaluated<bool> is_true(const Expression& where, const Row& row, Scratch& scratch, Time now) {
  const auto value = evaluate(where, row, scratch, now);
  if (!value) return value.error();
  if (value->absent()) return false;
  return to_boolean(*value);
}

std::optional<RowError> Accumulator::add(const Value& value) {
  if (aggregate_ == Aggregate::kCountAll) {
    ++count_;
    return {};
  }
  if (value.absent()) return {};
  if (aggregate_ == Aggregate::kMin || aggregate_ == Aggregate::kMax) return keep_extreme(value);
  if (aggregate_ != Aggregate::kCount) {
    if (auto error = add_number(value)) return error;
  }
  ++count_;
  return {};
}

std::optional<RowError> Accumulator::add_number(const Value& value) {
  const auto number = to_number(value);
  if (!number) return number.error();
  const bool integer = number->kind == Kind::kInt;
  const double real = integer ? static_cast<double>(number->integer) : number->real;
  if (!std::isfinite(reals_ + real))
    return RowError{"ArithmeticOverflow", "The sum is out of range."};
  // A sum of integers that no integer can hold goes on as a real number, as one with reals does.
  if (!integer || __builtin_add_overflow(integers_, number->integer, &integers_)) real_ = true;
  reals_ += real;
  return {};
}

std::optional<RowError> Accumulator::keep_extreme(const Value& value) {
  if (count_ > 0) {
    const auto compared = compare(value, extreme_);
    if (!compared) return compared.error();
    const bool better = aggregate_ == Aggregate::kMin ? *compared < 0 : *compared > 0;
    if (!better) return {};
  } else if (value.kind == Kind::kJson) {
    return invalid_conversion();
  }
  count_ = 1;
  extreme_ = value;
  if (value.kind == Kind::kString) {
    text_ = value.text;
    extreme_.text = text_;
  }
  return {};
}

Value Accumulator::result() const {
  switch (aggregate_) {
    case Aggregate::kCountAll:
    case Aggregate::kCount:
      return Value::of(count_);
    case Aggregate::kSum:
      if (count_ == 0) return {};
      return real_ ? Value::of(reals_) : Value::of(integers_);
    case Aggregate::kAverage:
      if (count_ == 0) return {};
      return Value::of(reals_ / static_cast<double>(count_));
    default:
      return extreme_;
  }
}

}  // namespace kyanite::sql
