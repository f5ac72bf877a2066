// A SELECT statement as a tree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/timestamp.h"
#include "sql/value.h"

namespace kyanite::sql {

// A name is compared ignoring (ASCII) case unless it was quoted.
struct Name {
  std::string text;
  bool exact = false;
  bool matches(std::string_view other) const;
};

// A step into JSON: a member by its name, an element by its place, or all elements.
struct PathStep {
  enum class Kind { kMember, kElement, kAll };
  Kind kind = Kind::kMember;
  Name name;
  size_t index = 0;
};

// A field of a record. CSV knows a single name or a position (_1); JSON a path.
struct Column {
  std::vector<PathStep> path;
  size_t reference = 0;           // Which of the statement's columns it is, in their order.
  std::optional<size_t> ordinal;  // Within a record of CSV; known once the header was read.
};

enum class Op {
  kLiteral,
  kColumn,
  kAnd,  // of two and more
  kOr,
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kNegate,
  kCast,
  kBetween,  // value, from, to
  kIn,       // value, candidates...
  kLike,     // value, pattern, escape?
  kIsNull,
  kIsMissing,
  kNullIf,
  kCoalesce,
  kCharLength,
  kLower,
  kUpper,
  kSubstring,    // text, start, length?
  kTrimLeading,  // text, characters?
  kTrimTrailing,
  kTrimBoth,
  kDateAdd,   // quantity, timestamp
  kDateDiff,  // timestamp, timestamp
  kExtract,   // timestamp
  kToString,  // timestamp, format
  kToTimestamp,
  kUtcNow,
};

struct Expression {
  Op op = Op::kLiteral;
  Value literal;
  std::string text;  // of a literal that is one
  Column column;
  Type type = Type::kString;        // of a cast
  DatePart part = DatePart::kYear;  // of functions on dates
  std::vector<Expression> arguments;
  size_t depth = 1;  // Of expressions within it, and itself.
};

enum class Aggregate { kNone, kCountAll, kCount, kSum, kAverage, kMin, kMax };

struct Selected {
  Expression expression;
  std::string alias;  // Given by AS, else "".
};

struct Statement {
  bool all = false;                        // SELECT *
  std::vector<Selected> selected;          // else
  Aggregate aggregate = Aggregate::kNone;  // over the only one selected
  uint64_t split_bytes = 0;                // SELECT sys.split(...), if not 0
  std::vector<PathStep> from;              // behind BlobStorage
  std::optional<Expression> where;
  std::optional<uint64_t> limit;

  size_t nodes = 0;       // Parts of all its expressions: what a row costs.
  size_t references = 0;  // How many columns it speaks of.
};

// Calls `visit` with every column that the statement speaks of.
template <class Visit>
void for_each_column(Expression& expression, Visit& visit) {
  if (expression.op == Op::kColumn) visit(expression.column);
  for (auto& argument : expression.arguments) for_each_column(argument, visit);
}
template <class Visit>
void for_each_column(Statement& statement, Visit visit) {
  for (auto& selected : statement.selected) for_each_column(selected.expression, visit);
  if (statement.where) for_each_column(*statement.where, visit);
}

}  // namespace kyanite::sql
