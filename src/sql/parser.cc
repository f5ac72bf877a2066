#include "sql/parser.h"

#include <utility>

#include "sql/expression_parser.h"
#include "sql/limits.h"

namespace kyanite::sql {

namespace {

using Kind = Token::Kind;

class StatementParser {
 public:
  explicit StatementParser(std::vector<Token> tokens) : in_(std::move(tokens)) {}

  Parsed<Statement> parse() {
    if (!in_.take_word("select")) return in_.expected("SELECT");
    if (auto list = selection(); !list) return list.error();
    if (!in_.take_word("from")) return in_.expected("FROM");
    if (auto table = from(); !table) return table.error();
    if (in_.take_word("where")) {
      auto where = in_.expression();
      if (!where) return where.error();
      out_.where = std::move(*where);
    }
    if (in_.take_word("limit")) {
      out_.limit = in_.take_number();
      if (!out_.limit) return in_.expected("a number of rows");
    }
    in_.take(";");
    if (in_.peek().kind != Kind::kEnd) return in_.expected("the end of the statement");
    out_.nodes = in_.nodes();
    out_.references = in_.references();
    return std::move(out_);
  }

 private:
  Parsed<bool> selection() {
    if (in_.take("*")) {
      out_.all = true;
      return true;
    }
    if (in_.is_word("sys") && in_.peek(1).is(".") && in_.is_word("split", 2)) return split();
    do {
      if (out_.selected.size() == kMaxSelected)
        return SyntaxError{"More than 49 columns are selected by name."};
      const bool single = out_.aggregate != Aggregate::kNone || in_.aggregate();
      if (single && !out_.selected.empty())
        return SyntaxError{"An aggregate must be all that is selected."};
      auto one = in_.aggregate() ? aggregate() : in_.expression();
      if (!one) return one.error();
      Selected selected{std::move(*one), ""};
      if (in_.take_word("as")) {
        const auto kind = in_.peek().kind;
        if (kind != Kind::kWord && kind != Kind::kQuoted) return in_.expected("a name");
        selected.alias = in_.peek().text;
        in_.advance();
      }
      out_.selected.push_back(std::move(selected));
    } while (in_.take(","));
    return true;
  }

  Parsed<bool> split() {
    in_.advance(3);
    if (!in_.take("(")) return in_.expected("(");
    const auto bytes = in_.take_number();
    if (!bytes) return in_.expected("a number of bytes");
    if (*bytes < kMinSplitBytes) return SyntaxError{"sys.split takes 10485760 bytes at least."};
    if (!in_.take(")")) return in_.expected(")");
    out_.split_bytes = *bytes;
    return true;
  }

  // What it is over; for COUNT(*) nothing.
  Parsed<Expression> aggregate() {
    out_.aggregate = *in_.aggregate();
    in_.advance(2);
    const bool all = out_.aggregate == Aggregate::kCount && in_.take("*");
    if (all) out_.aggregate = Aggregate::kCountAll;
    auto over = all ? in_.literal() : in_.expression();
    if (over && !in_.take(")")) return in_.expected(")");
    return over;
  }

  // BlobStorage, BlobStorage[*], or BlobStorage[*] and a path into JSON.
  Parsed<bool> from() {
    if (!in_.take_word("blobstorage")) return in_.expected("BlobStorage");
    if (!in_.peek().is("[")) return true;
    auto path = in_.steps(true);
    if (!path) return path.error();
    if (path->front().kind != PathStep::Kind::kAll)
      return SyntaxError{"A path begins with BlobStorage[*]."};
    path->erase(path->begin());
    out_.from = std::move(*path);
    return true;
  }

  ExpressionParser in_;
  Statement out_;
};

}  // namespace

Result<Statement, SyntaxError> parse(std::string_view text) {
  auto tokens = tokenize(text);
  if (!tokens) return tokens.error();
  return StatementParser(std::move(*tokens)).parse();
}

}  // namespace kyanite::sql
