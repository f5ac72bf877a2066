#include "table/address.h"

#include "base/bytes.h"
#include "table/names.h"

namespace kyanite::table {

namespace {
using auth::Level;
using service::Call;
using wire::Code;

wire::Result<void> check_tunnelled_method(const http::Request& request) {
  const auto method = request.headers.find("X-HTTP-Method");
  if (!method) return {};
  if (request.headers.count("X-HTTP-Method") > 1) return wire::Error(Code::kXMethodIncorrectCount);
  if (request.method != "POST") return wire::Error(Code::kXMethodNotUsingPost);
  for (const std::string_view known : {"MERGE", "PATCH", "PUT", "DELETE"}) {
    if (equals_ignoring_case(*method, known)) return {};
  }
  return wire::Error(Code::kXMethodIncorrectValue);
}
}  // namespace

wire::Result<void> address(Call& call, std::string_view path) {
  if (auto valid = check_tunnelled_method(call.request); !valid) return valid;
  auto& target = call.target;
  if (path.empty()) {
    target.level = Level::kService;
    return {};
  }
  if (path == "$batch") {
    target.level = Level::kBatch;
    return {};
  }
  if (path == "Tables" || path == "Tables()") {
    target.level = Level::kTables;
    return {};
  }
  if (auto name = parse_tables_path(path)) {
    target.level = Level::kTables;
    target.container = std::move(*name);
    return check_table_name(target.container);
  }
  // The name is judged before what follows it.
  const size_t name_end = path.find_first_of("/(");
  if (auto valid = check_table_name(path.substr(0, name_end)); !valid) return valid;
  if (name_end != std::string_view::npos && path[name_end] == '/') {
    // Nothing is there, but that is for the table to say (find_table()).
    target.level = call.request.method == "POST" ? Level::kContainer : Level::kObject;
    target.container = path.substr(0, name_end);
    target.object = path.substr(name_end);
    return {};
  }
  auto resource = parse_resource_path(path);
  if (!resource) return wire::Error(Code::kInvalidInput).saying("Request url is invalid.");
  target.level = resource->keys ? Level::kObject : Level::kContainer;
  target.container = resource->table;
  target.entity = std::move(resource->keys);
  return {};
}

}  // namespace kyanite::table
