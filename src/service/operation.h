// The operation tables: one row per REST operation. Routing, authorization, metrics labels and
// docs/COVERAGE.md come from these rows; an operation without a handler answers 501 with its name.
#pragma once

#include <span>
#include <string_view>

#include "auth/authorize.h"
#include "auth/target.h"
#include "base/task.h"
#include "http/message.h"
#include "wire/error.h"
#include "wire/query.h"

namespace kyanite::service {

struct Call;

using Handler = Task<wire::Result<http::Reply>> (*)(Call&);

struct Operation {
  std::string_view name;  // as the REST reference calls it
  std::string_view id;    // as the protocol's specification calls it
  std::string_view method;
  auth::Level level;
  // Query values that select the operation; empty: the parameter is absent.
  std::string_view restype;
  std::string_view comp;
  // Headers that select it further. No name: no such header.
  struct Selector {
    std::string_view header;
    std::string_view value;  // Empty: any value.
  };
  Selector selectors[2];
  auth::Need need;
  Handler run = nullptr;
  // A query parameter that selects it further. No name: none does.
  struct {
    std::string_view parameter;
    std::string_view value;  // Empty: any value.
  } query_selector = {};

  // Whether it changes nothing. A query of a blob's contents is sent as a POST for its body alone.
  bool reads() const { return method == "GET" || method == "HEAD" || comp == "query"; }
};

// The row for this request: rows are tried in order, the first that fits wins.
wire::Result<const Operation*> route(std::span<const Operation> operations,
                                     const http::Request& request, const wire::Query& query,
                                     auth::Level level);

}  // namespace kyanite::service
