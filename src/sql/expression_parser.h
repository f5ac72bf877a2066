// The expressions of the language, from tokens to trees. The statement around them is parser.cc's.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sql/lexer.h"
#include "sql/statement.h"

namespace kyanite::sql {

template <class T>
using Parsed = Result<T, SyntaxError>;

class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  // Tokens, from the current one on.
  const Token& peek(size_t ahead = 0) const;
  bool is_word(std::string_view word, size_t ahead = 0) const;
  // Move past the word or symbol if it is the current token.
  bool take_word(std::string_view word);
  bool take(std::string_view symbol);
  std::optional<uint64_t> take_number();
  void advance(size_t count = 1) { at_ += count; }
  SyntaxError expected(std::string_view what) const;

  Parsed<Expression> expression();
  // The steps of a path behind its beginning; [*] where it is allowed.
  Parsed<std::vector<PathStep>> steps(bool all_allowed);
  // The aggregate that the current token is the name of.
  std::optional<Aggregate> aggregate() const;
  // One that stands for nothing.
  Parsed<Expression> literal() { return make(Op::kLiteral, std::vector<Expression>()); }

  size_t nodes() const { return nodes_; }
  size_t references() const { return references_; }

 private:
  Parsed<Expression> make(Op op, std::vector<Expression> arguments);
  Parsed<Expression> make(Op op, Expression one, Expression other);
  Parsed<Expression> make(Op op, Expression only);

  // From what binds least to what binds most.
  template <class Operand>
  Parsed<Expression> joined(std::string_view word, Op op, Operand operand);
  Parsed<Expression> negation();
  Parsed<Expression> predicate();
  Parsed<Expression> is(Expression value);
  Parsed<Expression> between(Expression value);
  Parsed<Expression> in(Expression value);
  Parsed<Expression> like(Expression value);
  Parsed<Expression> sum();
  Parsed<Expression> product();
  Parsed<Expression> signed_term();
  Parsed<Expression> term();
  Parsed<Expression> number(std::string_view sign);
  Parsed<Expression> string();
  Parsed<Expression> column();
  Name name();
  // Expressions with commas between them, up to and with the closing parenthesis.
  Parsed<std::vector<Expression>> list();

  // At the name of a function, or behind it.
  Parsed<Expression> function();
  Parsed<Expression> cast();
  Parsed<Expression> trim_function();
  Parsed<Expression> extract();
  Parsed<Expression> date_function(Op op);
  std::optional<DatePart> take_date_part(bool zones);

  const std::vector<Token> tokens_;  // The last is the end.
  size_t at_ = 0;
  size_t nesting_ = 0;
  size_t nodes_ = 0;
  size_t references_ = 0;
};

}  // namespace kyanite::sql
