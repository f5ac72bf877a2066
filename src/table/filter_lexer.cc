#include "table/filter_lexer.h"

#include <limits>

#include "base/bytes.h"

namespace kyanite::table {

namespace {
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

Token bad() { return {.kind = Token::Kind::kBad, .text = {}, .literal = {}}; }
Token of(Literal literal) {
  return {.kind = Token::Kind::kLiteral, .text = {}, .literal = std::move(literal)};
}
Token of_real(std::string_view text) {
  const auto real = parse_double(text);
  if (!real) return bad();
  return of({.type = Edm::kDouble, .bytes = {}, .number = 0, .real = *real});
}
Token of_whole(Edm type, int64_t number) {
  return of({.type = type, .bytes = {}, .number = number, .real = 0});
}
}  // namespace

Token FilterLexer::next() {
  while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t'))
    ++position_;
  if (position_ == text_.size()) return {};
  const char c = text_[position_];
  if (c == '(' || c == ')') {
    ++position_;
    return {.kind = c == '(' ? Token::Kind::kOpen : Token::Kind::kClose, .text = {}, .literal = {}};
  }
  if (c == '\'') {
    auto text = quoted();
    if (!text || !is_valid_utf8(*text)) return bad();
    return of({.type = Edm::kString, .bytes = std::move(*text), .number = 0, .real = 0});
  }
  if (is_digit(c) || c == '-' || c == '.') return number();
  if (begins_word(c)) return word();
  ++position_;
  return bad();
}

Token FilterLexer::word() {
  const size_t begin = position_;
  while (position_ < text_.size() && (begins_word(text_[position_]) || is_digit(text_[position_])))
    ++position_;
  const std::string_view text = text_.substr(begin, position_ - begin);
  if (position_ < text_.size() && text_[position_] == '\'') return typed(text);
  if (text == "true" || text == "false") return of_whole(Edm::kBoolean, text == "true" ? 1 : 0);
  if (text == "NaN" || text == "INF" || text == "Infinity") return of_real(text);
  return {.kind = Token::Kind::kWord, .text = text, .literal = {}};
}

Token FilterLexer::number() {
  const size_t begin = position_;
  if (text_[position_] == '-') ++position_;
  if (text_.substr(position_).starts_with("INF")) {
    position_ += 3;
    return of_real("-INF");
  }
  bool real = false;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    const bool exponent = c == 'e' || c == 'E';
    if (!is_digit(c) && c != '.' && !exponent) break;
    real = real || !is_digit(c);
    ++position_;
    const bool sign =
        position_ < text_.size() && (text_[position_] == '+' || text_[position_] == '-');
    if (exponent && sign) ++position_;
  }
  const std::string_view digits = text_.substr(begin, position_ - begin);
  char suffix = '\0';
  if (position_ < text_.size() && begins_word(text_[position_]))
    suffix = static_cast<char>(text_[position_++] | 0x20);
  if (suffix == 'd' || suffix == 'f' || suffix == 'm' || (suffix == '\0' && real))
    return of_real(digits);
  const auto whole = parse_int(digits);
  if (suffix == 'l' && whole) return of_whole(Edm::kInt64, *whole);
  if (suffix != '\0') return bad();
  if (!whole) return of_real(digits);
  const bool small = *whole >= std::numeric_limits<int32_t>::min() &&
                     *whole <= std::numeric_limits<int32_t>::max();
  return of_whole(small ? Edm::kInt32 : Edm::kInt64, *whole);
}

std::optional<std::string> FilterLexer::quoted() {
  std::string out;
  ++position_;
  while (position_ < text_.size()) {
    const char c = text_[position_++];
    if (c == '\'') {
      if (position_ == text_.size() || text_[position_] != '\'') return out;
      ++position_;
    }
    out.push_back(c);
  }
  return {};
}

Token FilterLexer::typed(std::string_view type) {
  const auto text = quoted();
  if (!text) return bad();
  if (type == "datetime") {
    const auto time = parse_date_time(*text);
    return time ? of_whole(Edm::kDateTime, time->ticks) : bad();
  }
  std::optional<std::string> bytes;
  Edm edm = Edm::kBinary;
  if (type == "guid") {
    edm = Edm::kGuid;
    bytes = parse_guid_bytes(*text);
  } else if (type == "X" || type == "binary") {
    bytes = unhex(*text);
  }
  if (!bytes) return bad();
  return of({.type = edm, .bytes = std::move(*bytes), .number = 0, .real = 0});
}

}  // namespace kyanite::table
