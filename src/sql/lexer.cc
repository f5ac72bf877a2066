#include "sql/lexer.h"

#include <utility>

#include "sql/limits.h"

namespace kyanite::sql {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) {
  // Letters of other alphabets are words, too: all their bytes are above 127.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

SyntaxError error_at(size_t at, std::string_view what) {
  return {"Syntax error at position " + std::to_string(at) + ": " + std::string(what)};
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<Token, SyntaxError> next() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const size_t start = at_;
    if (at_ == text_.size()) return Token{Token::Kind::kEnd, "", start};
    const char c = text_[at_];
    if (c == '\'' || c == '"') return quoted(c);
    if (is_word_start(c)) {
      while (at_ < text_.size() && (is_word_start(text_[at_]) || is_digit(text_[at_]))) ++at_;
      return Token{Token::Kind::kWord, std::string(text_.substr(start, at_ - start)), start};
    }
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])))
      return number();
    return symbol();
  }

 private:
  // A quote within is written twice.
  Result<Token, SyntaxError> quoted(char quote) {
    Token token{quote == '"' ? Token::Kind::kQuoted : Token::Kind::kString, "", at_};
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        if (at_ + 1 == text_.size() || text_[at_ + 1] != quote) {
          ++at_;
          return token;
        }
        ++at_;
      }
      token.text += text_[at_];
    }
    return error_at(token.at, "the quote is not closed.");
  }

  Result<Token, SyntaxError> number() {
    const size_t start = at_;
    const auto digits = [&] {
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    };
    digits();
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      digits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      digits();
    }
    if (at_ < text_.size() && is_word_start(text_[at_])) return error_at(start, "no number.");
    return Token{Token::Kind::kNumber, std::string(text_.substr(start, at_ - start)), start};
  }

  Result<Token, SyntaxError> symbol() {
    const size_t start = at_;
    for (const std::string_view pair : {"!=", "<>", "<=", ">="}) {
      if (text_.substr(at_, 2) != pair) continue;
      at_ += 2;
      return Token{Token::Kind::kSymbol, std::string(pair), start};
    }
    if (std::string_view("=<>+-*/%(),.;[]").find(text_[at_]) == std::string_view::npos)
      return error_at(start, "unexpected character.");
    return Token{Token::Kind::kSymbol, std::string(1, text_[at_++]), start};
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>, SyntaxError> tokenize(std::string_view text) {
  if (text.size() > kMaxExpressionBytes)
    return SyntaxError{"The expression is longer than 256 KiB."};
  std::vector<Token> tokens;
  Lexer lexer(text);
  while (true) {
    auto token = lexer.next();
    if (!token) return token.error();
    const bool end = token->kind == Token::Kind::kEnd;
    tokens.push_back(std::move(*token));
    if (end) return tokens;
  }
}

}  // namespace kyanite::sql
