#include "sql/expression_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "sql/limits.h"

namespace kyanite::sql {

namespace {

using Kind = Token::Kind;

// Words that are no columns unless they are quoted.
constexpr std::string_view kReserved[] = {"select", "from", "where", "limit",   "and",  "or",
                                          "not",    "in",   "like",  "between", "is",   "as",
                                          "null",   "true", "false", "escape",  "cast", "missing"};

struct Aggregation {
  std::string_view name;
  Aggregate aggregate;
};
constexpr Aggregation kAggregates[] = {
    {"count", Aggregate::kCount},     {"sum", Aggregate::kSum}, {"avg", Aggregate::kAverage},
    {"average", Aggregate::kAverage}, {"min", Aggregate::kMin}, {"max", Aggregate::kMax}};

struct Function {
  std::string_view name;
  Op op;
  size_t least;
  size_t most;
};
// Those whose arguments are just a list.
constexpr Function kFunctions[] = {{"char_length", Op::kCharLength, 1, 1},
                                   {"character_length", Op::kCharLength, 1, 1},
                                   {"lower", Op::kLower, 1, 1},
                                   {"upper", Op::kUpper, 1, 1},
                                   {"substring", Op::kSubstring, 2, 3},
                                   {"nullif", Op::kNullIf, 2, 2},
                                   {"coalesce", Op::kCoalesce, 1, kMaxNodes},
                                   {"to_string", Op::kToString, 2, 2},
                                   {"to_timestamp", Op::kToTimestamp, 1, 1},
                                   {"utcnow", Op::kUtcNow, 0, 0}};

struct NamedType {
  std::string_view name;
  Type type;
};
constexpr NamedType kTypes[] = {{"int", Type::kInt},
                                {"float", Type::kFloat},
                                {"string", Type::kString},
                                {"timestamp", Type::kTimestamp},
                                {"boolean", Type::kBoolean}};

struct Comparison {
  std::string_view symbol;
  Op op;
};
constexpr Comparison kComparisons[] = {
    {"=", Op::kEqual},   {"!=", Op::kNotEqual},    {"<>", Op::kNotEqual},      {"<", Op::kLess},
    {">", Op::kGreater}, {"<=", Op::kLessOrEqual}, {">=", Op::kGreaterOrEqual}};

template <class Table>
auto find_named(const Table& table, std::string_view name) {
  return std::find_if(std::begin(table), std::end(table),
                      [&](const auto& row) { return equals_ignoring_case(row.name, name); });
}

}  // namespace

const Token& ExpressionParser::peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}
bool ExpressionParser::is_word(std::string_view word, size_t ahead) const {
  return peek(ahead).kind == Kind::kWord && equals_ignoring_case(peek(ahead).text, word);
}
bool ExpressionParser::take_word(std::string_view word) {
  if (!is_word(word)) return false;
  ++at_;
  return true;
}
bool ExpressionParser::take(std::string_view symbol) {
  if (!peek().is(symbol)) return false;
  ++at_;
  return true;
}
SyntaxError ExpressionParser::expected(std::string_view what) const {
  std::string text = "Syntax error at position " + std::to_string(peek().at) + ": expected ";
  text.append(what);
  if (peek().kind == Kind::kEnd) return {text + " instead of the end."};
  return {text + " instead of '" + peek().text.substr(0, 64) + "'."};
}

Parsed<Expression> ExpressionParser::make(Op op, std::vector<Expression> arguments) {
  Expression made;
  made.op = op;
  for (const auto& argument : arguments) made.depth = std::max(made.depth, argument.depth + 1);
  made.arguments = std::move(arguments);
  if (made.depth > kMaxDepth) return SyntaxError{"The expression is nested too deeply."};
  if (++nodes_ > kMaxNodes) return SyntaxError{"The expression has too many parts."};
  return made;
}
Parsed<Expression> ExpressionParser::make(Op op, Expression one, Expression other) {
  std::vector<Expression> arguments;
  arguments.push_back(std::move(one));
  arguments.push_back(std::move(other));
  return make(op, std::move(arguments));
}
Parsed<Expression> ExpressionParser::make(Op op, Expression only) {
  std::vector<Expression> arguments;
  arguments.push_back(std::move(only));
  return make(op, std::move(arguments));
}

Parsed<std::vector<PathStep>> ExpressionParser::steps(bool all_allowed) {
  std::vector<PathStep> path;
  while (peek().is(".") || peek().is("[")) {
    PathStep step;
    if (take(".")) {
      if (peek().kind != Kind::kWord && peek().kind != Kind::kQuoted) return expected("a name");
      step.name = name();
    } else {
      ++at_;
      if (all_allowed && take("*")) {
        step.kind = PathStep::Kind::kAll;
      } else {
        const auto index = peek().kind == Kind::kNumber ? parse_uint(peek().text) : std::nullopt;
        if (!index) return expected(all_allowed ? "* or a number" : "a number");
        step.kind = PathStep::Kind::kElement;
        step.index = static_cast<size_t>(*index);
        ++at_;
      }
      if (!take("]")) return expected("]");
    }
    path.push_back(std::move(step));
    if (path.size() > kMaxPathSteps) return SyntaxError{"A path has too many steps."};
  }
  return path;
}

Name ExpressionParser::name() {
  Name name{peek().text, peek().kind == Kind::kQuoted};
  ++at_;
  return name;
}

Parsed<Expression> ExpressionParser::expression() {
  // Each level of nesting takes this way, so that this bounds the stack.
  if (++nesting_ > kMaxDepth) return SyntaxError{"The expression is nested too deeply."};
  auto result = joined("or", Op::kOr,
                       [this] { return joined("and", Op::kAnd, [this] { return negation(); }); });
  --nesting_;
  return result;
}

template <class Operand>
Parsed<Expression> ExpressionParser::joined(std::string_view word, Op op, Operand operand) {
  auto first = operand();
  if (!first || !is_word(word)) return first;
  std::vector<Expression> operands;
  operands.push_back(std::move(*first));
  while (take_word(word)) {
    auto next = operand();
    if (!next) return next;
    operands.push_back(std::move(*next));
  }
  return make(op, std::move(operands));
}

Parsed<Expression> ExpressionParser::negation() {
  size_t count = 0;
  while (take_word("not")) ++count;
  auto result = predicate();
  // Two of them still make a truth of whatever it is.
  for (size_t left = count == 0 ? 0 : 2 - count % 2; result && left > 0; --left)
    result = make(Op::kNot, std::move(*result));
  return result;
}

Parsed<Expression> ExpressionParser::predicate() {
  auto left = sum();
  if (!left) return left;
  for (const auto& comparison : kComparisons) {
    if (!take(comparison.symbol)) continue;
    auto right = sum();
    if (!right) return right;
    return make(comparison.op, std::move(*left), std::move(*right));
  }
  if (take_word("is")) return is(std::move(*left));
  const bool negated =
      is_word("not") && (is_word("between", 1) || is_word("in", 1) || is_word("like", 1));
  if (negated) ++at_;
  Parsed<Expression> result = std::move(left);
  if (take_word("between")) {
    result = between(std::move(*result));
  } else if (take_word("in")) {
    result = in(std::move(*result));
  } else if (take_word("like")) {
    result = like(std::move(*result));
  }
  if (!negated || !result) return result;
  return make(Op::kNot, std::move(*result));
}

Parsed<Expression> ExpressionParser::is(Expression value) {
  const bool negated = take_word("not");
  Op op = Op::kIsNull;
  if (take_word("missing")) {
    op = Op::kIsMissing;
  } else if (!take_word("null")) {
    return expected("NULL or MISSING");
  }
  auto result = make(op, std::move(value));
  if (!negated || !result) return result;
  return make(Op::kNot, std::move(*result));
}

Parsed<Expression> ExpressionParser::between(Expression value) {
  auto from = sum();
  if (!from) return from;
  if (!take_word("and")) return expected("AND");
  auto to = sum();
  if (!to) return to;
  std::vector<Expression> arguments;
  arguments.push_back(std::move(value));
  arguments.push_back(std::move(*from));
  arguments.push_back(std::move(*to));
  return make(Op::kBetween, std::move(arguments));
}

Parsed<Expression> ExpressionParser::in(Expression value) {
  if (!take("(")) return expected("(");
  auto arguments = list();
  if (!arguments) return arguments.error();
  arguments->insert(arguments->begin(), std::move(value));
  return make(Op::kIn, std::move(*arguments));
}

Parsed<Expression> ExpressionParser::like(Expression value) {
  auto pattern = sum();
  if (!pattern) return pattern;
  std::vector<Expression> arguments;
  arguments.push_back(std::move(value));
  arguments.push_back(std::move(*pattern));
  if (take_word("escape")) {
    auto escape = sum();
    if (!escape) return escape;
    arguments.push_back(std::move(*escape));
  }
  return make(Op::kLike, std::move(arguments));
}

Parsed<Expression> ExpressionParser::sum() {
  auto left = product();
  while (left && (peek().is("+") || peek().is("-"))) {
    const Op op = peek().is("+") ? Op::kAdd : Op::kSubtract;
    ++at_;
    auto right = product();
    if (!right) return right;
    left = make(op, std::move(*left), std::move(*right));
  }
  return left;
}

Parsed<Expression> ExpressionParser::product() {
  auto left = signed_term();
  while (left && (peek().is("*") || peek().is("/") || peek().is("%"))) {
    const Op op = peek().is("*") ? Op::kMultiply : peek().is("/") ? Op::kDivide : Op::kModulo;
    ++at_;
    auto right = signed_term();
    if (!right) return right;
    left = make(op, std::move(*left), std::move(*right));
  }
  return left;
}

Parsed<Expression> ExpressionParser::signed_term() {
  bool negative = false;
  while (peek().is("-") || peek().is("+")) negative ^= tokens_[at_++].text == "-";
  if (negative && peek().kind == Kind::kNumber) return number("-");
  auto result = term();
  if (!negative || !result) return result;
  return make(Op::kNegate, std::move(*result));
}

Parsed<Expression> ExpressionParser::number(std::string_view sign) {
  const std::string text = std::string(sign) + peek().text;
  const char* end = text.data() + text.size();
  auto result = make(Op::kLiteral, std::vector<Expression>());
  if (!result) return result;
  int64_t integer = 0;
  double real = 0;
  if (auto read = std::from_chars(text.data(), end, integer);
      read.ec == std::errc() && read.ptr == end) {
    result->literal = Value::of(integer);
  } else if (auto again = std::from_chars(text.data(), end, real);
             again.ec == std::errc() && again.ptr == end) {
    result->literal = Value::of(real);
  } else {
    return expected("a number");
  }
  ++at_;
  return result;
}

Parsed<Expression> ExpressionParser::term() {
  const Token& token = peek();
  if (token.kind == Kind::kNumber) return number("");
  if (token.kind == Kind::kString) return string();
  if (take("(")) {
    auto inner = expression();
    if (inner && !take(")")) return expected(")");
    return inner;
  }
  if (token.kind == Kind::kWord && peek(1).is("(")) return function();
  if (token.kind == Kind::kWord) {
    if (take_word("null")) return make(Op::kLiteral, std::vector<Expression>());
    if (is_word("true") || is_word("false")) {
      auto result = make(Op::kLiteral, std::vector<Expression>());
      if (result) result->literal = Value::of(is_word("true"));
      ++at_;
      return result;
    }
  }
  return column();
}

Parsed<Expression> ExpressionParser::string() {
  auto result = make(Op::kLiteral, std::vector<Expression>());
  if (!result) return result;
  result->literal.kind = Value::Kind::kString;
  result->text = peek().text;
  ++at_;
  return result;
}

Parsed<Expression> ExpressionParser::column() {
  const bool reserved =
      peek().kind == Kind::kWord &&
      std::any_of(std::begin(kReserved), std::end(kReserved),
                  [&](std::string_view word) { return equals_ignoring_case(word, peek().text); });
  if (reserved || (peek().kind != Kind::kWord && peek().kind != Kind::kQuoted))
    return expected("an expression");
  auto result = make(Op::kColumn, std::vector<Expression>());
  if (!result) return result;
  PathStep first;
  first.name = name();
  auto rest = steps(false);
  if (!rest) return rest.error();
  result->column.path = std::move(*rest);
  result->column.path.insert(result->column.path.begin(), std::move(first));
  result->column.reference = references_++;
  return result;
}

Parsed<std::vector<Expression>> ExpressionParser::list() {
  std::vector<Expression> items;
  if (take(")")) return items;
  do {
    auto item = expression();
    if (!item) return item.error();
    items.push_back(std::move(*item));
  } while (take(","));
  if (!take(")")) return expected(", or )");
  return items;
}

Parsed<Expression> ExpressionParser::function() {
  if (take_word("cast")) return cast();
  if (take_word("trim")) return trim_function();
  if (take_word("extract")) return extract();
  if (take_word("date_add")) return date_function(Op::kDateAdd);
  if (take_word("date_diff")) return date_function(Op::kDateDiff);
  if (aggregate()) return SyntaxError{"An aggregate must be all that is selected."};
  const auto found = find_named(kFunctions, peek().text);
  if (found == std::end(kFunctions)) return expected("a function that is known");
  at_ += 2;
  auto arguments = list();
  if (!arguments) return arguments.error();
  if (arguments->size() < found->least || arguments->size() > found->most)
    return SyntaxError{"Wrong number of arguments for " + std::string(found->name) + "."};
  return make(found->op, std::move(*arguments));
}

Parsed<Expression> ExpressionParser::cast() {
  ++at_;
  auto value = expression();
  if (!value) return value;
  if (!take_word("as")) return expected("AS");
  const auto found = find_named(kTypes, peek().text);
  if (peek().kind != Kind::kWord || found == std::end(kTypes))
    return expected("INT, FLOAT, STRING, TIMESTAMP or BOOLEAN");
  ++at_;
  if (!take(")")) return expected(")");
  auto result = make(Op::kCast, std::move(*value));
  if (result) result->type = found->type;
  return result;
}

// TRIM([LEADING | TRAILING | BOTH] [characters FROM] text)
Parsed<Expression> ExpressionParser::trim_function() {
  ++at_;
  Op op = Op::kTrimBoth;
  if (take_word("leading")) {
    op = Op::kTrimLeading;
  } else if (take_word("trailing")) {
    op = Op::kTrimTrailing;
  } else {
    take_word("both");
  }
  std::vector<Expression> arguments;
  if (!take_word("from")) {
    auto first = expression();
    if (!first) return first;
    arguments.push_back(std::move(*first));
    if (take(")")) return make(op, std::move(arguments));
    if (!take_word("from")) return expected("FROM or )");
  }
  auto text = expression();
  if (!text) return text;
  if (!take(")")) return expected(")");
  arguments.insert(arguments.begin(), std::move(*text));
  return make(op, std::move(arguments));
}

// In quotes or not.
std::optional<DatePart> ExpressionParser::take_date_part(bool zones) {
  if (peek().kind != Kind::kWord && peek().kind != Kind::kString) return {};
  const auto part = parse_date_part(peek().text);
  if (!part || (!zones && (*part == DatePart::kZoneHour || *part == DatePart::kZoneMinute)))
    return {};
  ++at_;
  return part;
}

Parsed<Expression> ExpressionParser::extract() {
  ++at_;
  const auto part = take_date_part(true);
  if (!part) return expected("a part of a date");
  if (!take_word("from")) return expected("FROM");
  auto value = expression();
  if (!value) return value;
  if (!take(")")) return expected(")");
  auto result = make(Op::kExtract, std::move(*value));
  if (result) result->part = *part;
  return result;
}

Parsed<Expression> ExpressionParser::date_function(Op op) {
  ++at_;
  const auto part = take_date_part(false);
  if (!part) return expected("year, month, day, hour, minute or second");
  if (!take(",")) return expected(",");
  auto arguments = list();
  if (!arguments) return arguments.error();
  if (arguments->size() != 2) return SyntaxError{"Functions of dates take three arguments."};
  auto result = make(op, std::move(*arguments));
  if (result) result->part = *part;
  return result;
}

std::optional<Aggregate> ExpressionParser::aggregate() const {
  if (peek().kind != Kind::kWord || !peek(1).is("(")) return {};
  const auto found = find_named(kAggregates, peek().text);
  return found == std::end(kAggregates) ? std::nullopt : std::optional(found->aggregate);
}

std::optional<uint64_t> ExpressionParser::take_number() {
  const auto number = peek().kind == Kind::kNumber ? parse_uint(peek().text) : std::nullopt;
  if (number) ++at_;
  return number;
}

bool Name::matches(std::string_view other) const {
  return exact ? text == other : equals_ignoring_case(text, other);
}

}  // namespace kyanite::sql
