// The body of Query Blob Contents: an expression, the form that the blob is in, and the form of the
// result.
#pragma once

#include <string>
#include <string_view>

#include "sql/rows.h"
#include "wire/error.h"

namespace kyanite::blob {

struct QueryRequest {
  std::string expression;
  sql::InputFormat input;
  sql::OutputFormat output;
};

// Forms that are not given are CSV.
wire::Result<QueryRequest> parse_query_request(std::string_view xml);

}  // namespace kyanite::blob
