// Any text as the body of Query Blob Contents: refused, or a query that can be run.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "blob/query_request.h"
#include "sql/query.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite;
  auto request = blob::parse_query_request({reinterpret_cast<const char*>(data), size});
  if (!request) return 0;
  auto query = sql::Query::prepare(
      request->expression,
      {request->input, request->output, 4, Time{1}, std::string(sql::kAvroSyncBytes, 's')});
  if (!query) return 0;
  (*query)->add_input("a,b\n");
  while ((*query)->needs() != sql::Query::Needs::kNothing) {
    if ((*query)->needs() == sql::Query::Needs::kInput) (*query)->end_input();
    (*query)->step();
  }
  return 0;
}
