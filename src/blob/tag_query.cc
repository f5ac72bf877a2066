#include "blob/tag_query.h"

#include "base/bytes.h"

namespace kyanite::blob {

namespace {

using Operator = TagQuery::Operator;

class Parser {
 public:
  Parser(std::string_view text, TagQuery::Dialect dialect)
      : text_(text), rest_(text), dialect_(dialect) {}

  // The last word that was understood is where the service says a mistake is.
  TagQuery::Mistake mistake(std::string_view expected) const { return {last_ + 1, expected}; }

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

  Result<TagQuery::Comparison, TagQuery::Mistake> comparison() {
    TagQuery::Comparison comparison;
    if (!name(comparison.name)) return mistake("expected a tag name");
    if (!op(comparison.op)) return mistake("expected an operator");
    if (!quoted('\'', comparison.value)) return mistake("expected a tag value");
    return comparison;
  }

  // "AND" or "OR", in any case, as a word of its own.
  bool word(std::string_view expected) {
    skip_blanks();
    if (!equals_ignoring_case(rest_.substr(0, expected.size()), expected)) return false;
    const std::string_view after = rest_.substr(expected.size());
    if (!after.empty() && after.front() != ' ' && after.front() != '"' && after.front() != '@' &&
        after.front() != '\t') {
      return false;
    }
    take(expected.size());
    return true;
  }

 private:
  void take(size_t characters) {
    last_ = text_.size() - rest_.size();
    rest_.remove_prefix(characters);
  }
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }

  bool name(std::string& out) {
    skip_blanks();
    if (rest_.empty()) return false;
    if (rest_.front() == '"') return quoted('"', out) && !out.empty();
    constexpr std::string_view kContainer = "@container";
    if (dialect_ == TagQuery::Dialect::kFind && rest_.substr(0, kContainer.size()) == kContainer) {
      out = kContainer;
      take(kContainer.size());
      return true;
    }
    // Plain identifiers may go without quotes.
    size_t length = 0;
    const auto is_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (length < rest_.size() && is_word(rest_[length])) ++length;
    if (length == 0) return false;
    out = rest_.substr(0, length);
    take(length);
    return true;
  }

  bool op(Operator& out) {
    skip_blanks();
    static constexpr struct {
      std::string_view text;
      Operator op;
    } kOperators[] = {{"<>", Operator::kNotEqual},    {">=", Operator::kGreaterOrEqual},
                      {"<=", Operator::kLessOrEqual}, {"=", Operator::kEqual},
                      {">", Operator::kGreater},      {"<", Operator::kLess}};
    for (const auto& candidate : kOperators) {
      if (rest_.substr(0, candidate.text.size()) != candidate.text) continue;
      if (candidate.op == Operator::kNotEqual && dialect_ == TagQuery::Dialect::kFind) return false;
      take(candidate.text.size());
      out = candidate.op;
      return true;
    }
    return false;
  }

  bool quoted(char quote, std::string& out) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != quote) return false;
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return false;
    out = rest_.substr(1, end - 1);
    take(end + 1);
    return true;
  }

  const std::string_view text_;
  std::string_view rest_;
  size_t last_ = 0;  // Where the last word that was taken begins.
  TagQuery::Dialect dialect_;
};

bool compare(std::string_view actual, Operator op, std::string_view expected) {
  switch (op) {
    case Operator::kEqual:
      return actual == expected;
    case Operator::kNotEqual:
      return actual != expected;
    case Operator::kGreater:
      return actual > expected;
    case Operator::kGreaterOrEqual:
      return actual >= expected;
    case Operator::kLess:
      return actual < expected;
    case Operator::kLessOrEqual:
      return actual <= expected;
  }
  return false;
}

bool holds(const TagQuery::Comparison& comparison, const Tags& tags, std::string_view container) {
  if (comparison.name == "@container") return compare(container, comparison.op, comparison.value);
  for (const auto& [key, value] : tags) {
    if (key == comparison.name) return compare(value, comparison.op, comparison.value);
  }
  return comparison.op == Operator::kNotEqual;
}

}  // namespace

Result<TagQuery, TagQuery::Mistake> TagQuery::parse(std::string_view text, Dialect dialect) {
  TagQuery query;
  query.alternatives_.emplace_back();
  Parser parser(text, dialect);
  size_t count = 0;
  while (true) {
    auto comparison = parser.comparison();
    if (!comparison) return comparison.error();
    if (++count > kMaxComparisons) return parser.mistake("expected fewer comparisons");
    query.alternatives_.back().push_back(std::move(*comparison));
    if (parser.at_end()) return query;
    if (parser.word("and")) continue;
    if (dialect != Dialect::kCondition || !parser.word("or"))
      return parser.mistake("expected a logical operator");
    query.alternatives_.emplace_back();
  }
}

bool TagQuery::matches(const Tags& tags, std::string_view container) const {
  for (const auto& alternative : alternatives_) {
    bool all = true;
    for (const auto& comparison : alternative) all = all && holds(comparison, tags, container);
    if (all) return true;
  }
  return false;
}

}  // namespace kyanite::blob
