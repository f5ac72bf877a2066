// $filter: parsed once, evaluated against every row that the key ranges (table/plan.h) let through.
// Of a row it sees the columns that it asks about, each once.
//
//   or      := and ('or' and)*
//   and     := unary ('and' unary)*
//   unary   := 'not' unary | '(' or ')' | comparison
//   comparison := operand [('eq'|'ne'|'gt'|'ge'|'lt'|'le') operand]
//   operand := property | literal, one of each in a comparison
//   literal := 'text' | 12 | 12L | 1.5 | true | false | datetime'..' | guid'..' | X'hex' |
//   binary'hex'
//
// A property alone is compared with true. A comparison with a property that the row lacks, or of
// types that do not compare, is false.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table/columns.h"
#include "table/value.h"
#include "wire/error.h"

namespace kyanite::table {

enum class Relation { kEq, kNe, kGt, kGe, kLt, kLe };
bool holds(Relation relation, std::partial_ordering order);

// A value that owns its bytes.
struct Literal {
  Edm type = Edm::kString;
  std::string bytes;
  int64_t number = 0;
  double real = 0;

  Value value() const { return {type, bytes, number, real}; }
};

class Filter {
 public:
  inline static constexpr size_t kMaxDepth = 64;  // parentheses and nots within each other
  inline static constexpr size_t kMaxNodes = 1024;

  struct Node {
    enum class Kind { kAnd, kOr, kNot, kCompare, kConstant };
    Kind kind = Kind::kConstant;
    std::vector<size_t> children;  // kAnd, kOr: at least two; kNot: one; indices of nodes
    std::string property;          // kCompare
    size_t column = 0;             // The number of it among columns().
    Relation relation = Relation::kEq;
    Literal literal;
    bool constant = true;  // kConstant
  };

  // 400 InvalidInput with the position when the text is no filter.
  static wire::Result<Filter> parse(std::string_view text);

  const Columns& columns() const { return columns_; }
  // A row of columns().
  bool matches(const Row& row) const { return matches(nodes_[root_], row); }

  size_t size() const { return nodes_.size(); }
  const Node& node(size_t index) const { return nodes_[index]; }
  const Node& root() const { return nodes_[root_]; }
  std::vector<Node>& nodes() { return nodes_; }

 private:
  friend class FilterParser;

  bool matches(const Node& node, const Row& row) const;

  Columns columns_;
  std::vector<Node> nodes_;
  size_t root_ = 0;
};

}  // namespace kyanite::table
