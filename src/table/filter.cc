#include "table/filter.h"

#include <algorithm>

#include "table/filter_lexer.h"

namespace kyanite::table {

bool holds(Relation relation, std::partial_ordering order) {
  if (order == std::partial_ordering::unordered) return false;
  switch (relation) {
    case Relation::kEq:
      return order == 0;
    case Relation::kNe:
      return order != 0;
    case Relation::kGt:
      return order > 0;
    case Relation::kGe:
      return order >= 0;
    case Relation::kLt:
      return order < 0;
    case Relation::kLe:
      return order <= 0;
  }
  return false;
}

bool Filter::matches(const Node& node, const Row& row) const {
  switch (node.kind) {
    case Node::Kind::kAnd:
      for (size_t child : node.children) {
        if (!matches(nodes_[child], row)) return false;
      }
      return true;
    case Node::Kind::kOr:
      for (size_t child : node.children) {
        if (matches(nodes_[child], row)) return true;
      }
      return false;
    case Node::Kind::kNot:
      return !matches(nodes_[node.children.front()], row);
    case Node::Kind::kCompare: {
      const auto& value = row[node.column];
      return value && holds(node.relation, compare(*value, node.literal.value()));
    }
    case Node::Kind::kConstant:
      return node.constant;
  }
  return false;
}

// Recursive descent, one token ahead. After the first error every step returns at once.
class FilterParser {
 public:
  using Node = Filter::Node;

  explicit FilterParser(std::string_view text) : text_(text), lexer_(text) { advance(); }

  wire::Result<Filter> parse() {
    const size_t root = disjunction();
    if (!failed_ && token_.kind != Token::Kind::kEnd) failed_ = true;
    if (calls_function_) return wire::Error(wire::Code::kNotImplemented);
    if (failed_) return syntax_error();
    filter_.root_ = root;
    return std::move(filter_);
  }

 private:
  wire::Error syntax_error() const {
    return wire::Error(wire::Code::kInvalidInput)
        .saying("Syntax error at position " + std::to_string(lexer_.position()) + " in '" +
                std::string(text_) + "'.");
  }

  void advance() { token_ = lexer_.next(); }
  bool at_word(std::string_view word) const {
    return token_.kind == Token::Kind::kWord && token_.text == word;
  }
  size_t fail() {
    failed_ = true;
    return 0;
  }
  size_t add(Node node) {
    if (filter_.nodes_.size() == Filter::kMaxNodes) return fail();
    if (node.kind == Node::Kind::kCompare) node.column = filter_.columns_.add(node.property);
    filter_.nodes_.push_back(std::move(node));
    return filter_.nodes_.size() - 1;
  }

  // a WORD b WORD c: one node with all of them, so that long chains do not nest.
  template <class Operand>
  size_t chain(Node::Kind kind, std::string_view word, Operand operand) {
    const size_t first = operand();
    if (failed_ || !at_word(word)) return first;
    Node node{.kind = kind, .children = {first}, .property = {}, .literal = {}};
    while (!failed_ && at_word(word)) {
      advance();
      node.children.push_back(operand());
    }
    return failed_ ? 0 : add(std::move(node));
  }
  size_t disjunction() {
    return chain(Node::Kind::kOr, "or", [this] { return conjunction(); });
  }
  size_t conjunction() {
    return chain(Node::Kind::kAnd, "and", [this] { return unary(); });
  }

  size_t unary() {
    if (++depth_ > Filter::kMaxDepth) return fail();
    size_t node = 0;
    if (at_word("not")) {
      advance();
      const size_t child = unary();
      if (!failed_)
        node = add({.kind = Node::Kind::kNot, .children = {child}, .property = {}, .literal = {}});
    } else if (token_.kind == Token::Kind::kOpen) {
      advance();
      node = disjunction();
      if (!failed_ && token_.kind != Token::Kind::kClose) return fail();
      if (!failed_) advance();
    } else {
      node = comparison();
    }
    --depth_;
    return node;
  }

  static std::optional<Relation> relation_of(const Token& token) {
    if (token.kind != Token::Kind::kWord) return {};
    static constexpr std::string_view kWords[] = {"eq", "ne", "gt", "ge", "lt", "le"};
    for (size_t i = 0; i < std::size(kWords); ++i) {
      if (token.text == kWords[i]) return static_cast<Relation>(i);
    }
    return {};
  }

  // 5 lt Age is Age gt 5.
  static Relation mirrored(Relation relation) {
    switch (relation) {
      case Relation::kGt:
        return Relation::kLt;
      case Relation::kGe:
        return Relation::kLe;
      case Relation::kLt:
        return Relation::kGt;
      case Relation::kLe:
        return Relation::kGe;
      case Relation::kEq:
      case Relation::kNe:
        return relation;
    }
    return relation;
  }

  static bool is_operand(const Token& token) {
    if (token.kind == Token::Kind::kLiteral) return true;
    return token.kind == Token::Kind::kWord && !relation_of(token) && token.text != "and" &&
           token.text != "or" && token.text != "not";
  }

  // Those of OData, which the service knows and does not offer.
  static bool is_function(std::string_view word) {
    static constexpr std::string_view kFunctions[] = {
        "startswith", "endswith",  "substringof", "contains", "length", "indexof",
        "replace",    "substring", "tolower",     "toupper",  "trim",   "concat",
        "year",       "month",     "day",         "hour",     "minute", "second",
        "round",      "floor",     "ceiling",     "isof",     "cast"};
    return std::find(std::begin(kFunctions), std::end(kFunctions), word) != std::end(kFunctions);
  }

  size_t comparison() {
    if (!is_operand(token_)) return fail();
    Token left = std::move(token_);
    advance();
    if (left.kind == Token::Kind::kWord && token_.kind == Token::Kind::kOpen &&
        is_function(left.text)) {
      calls_function_ = true;
      return fail();
    }
    const auto relation = relation_of(token_);
    if (!relation) return alone(std::move(left));
    advance();
    if (!is_operand(token_) || token_.kind == left.kind) return fail();
    Token right = std::move(token_);
    advance();
    const bool property_left = left.kind == Token::Kind::kWord;
    Token& property = property_left ? left : right;
    Token& literal = property_left ? right : left;
    return add({.kind = Node::Kind::kCompare,
                .children = {},
                .property = std::string(property.text),
                .relation = property_left ? *relation : mirrored(*relation),
                .literal = std::move(literal.literal)});
  }

  size_t alone(Token operand) {
    if (operand.kind == Token::Kind::kWord) {
      return add({.kind = Node::Kind::kCompare,
                  .children = {},
                  .property = std::string(operand.text),
                  .relation = Relation::kEq,
                  .literal = {.type = Edm::kBoolean, .bytes = {}, .number = 1, .real = 0}});
    }
    if (operand.literal.type != Edm::kBoolean) return fail();
    return add({.kind = Node::Kind::kConstant,
                .children = {},
                .property = {},
                .literal = {},
                .constant = operand.literal.number != 0});
  }

  std::string_view text_;
  FilterLexer lexer_;
  Token token_;
  Filter filter_;
  size_t depth_ = 0;
  bool failed_ = false;
  bool calls_function_ = false;
};

wire::Result<Filter> Filter::parse(std::string_view text) { return FilterParser(text).parse(); }

}  // namespace kyanite::table
