// Any text as a statement: refused, or within its limits.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sql/limits.h"
#include "sql/parser.h"

namespace {
using namespace kyanite;

size_t count(const sql::Expression& expression) {
  size_t nodes = 1;
  size_t depth = 0;
  for (const auto& argument : expression.arguments) {
    nodes += count(argument);
    depth = std::max(depth, argument.depth);
  }
  CHECK(expression.depth == depth + 1 && expression.depth <= sql::kMaxDepth);
  CHECK(expression.op != sql::Op::kColumn || !expression.column.path.empty());
  return nodes;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto statement = sql::parse({reinterpret_cast<const char*>(data), size});
  if (!statement) {
    CHECK(!statement.error().message.empty());
    return 0;
  }
  size_t nodes = 0;
  for (const auto& selected : statement->selected) nodes += count(selected.expression);
  if (statement->where) nodes += count(*statement->where);
  CHECK(nodes == statement->nodes && nodes <= sql::kMaxNodes);
  CHECK(statement->selected.size() <= sql::kMaxSelected);
  CHECK(statement->all + (statement->split_bytes != 0) + !statement->selected.empty() == 1);
  CHECK(statement->aggregate == sql::Aggregate::kNone || statement->selected.size() == 1);
  return 0;
}
