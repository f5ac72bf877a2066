#include "service/operation.h"

#include "base/bytes.h"

namespace kyanite::service {

namespace {
bool header_fits(const Operation& operation, const http::Headers& headers) {
  if (operation.header.empty()) return true;
  auto value = headers.find(operation.header);
  return value && (operation.header_value.empty() || equals_ignoring_case(*value, operation.header_value));
}
}  // namespace

wire::Result<const Operation*> route(std::span<const Operation> operations, const http::Request& request,
                                     const wire::Query& query, auth::Level level) {
  const std::string_view restype = query.get("restype");
  const std::string_view comp = query.get("comp");
  bool path_known = false;  // Some row has this level, restype and comp, whatever its method.
  bool method_fits = false;
  for (const auto& operation : operations) {
    if (operation.level != level || !equals_ignoring_case(operation.comp, comp) ||
        !equals_ignoring_case(operation.restype, restype)) {
      continue;
    }
    path_known = true;
    if (operation.method != request.method) continue;
    method_fits = true;
    if (header_fits(operation, request.headers)) return &operation;
  }
  if (method_fits) {
    // Only a discriminating header is missing or unknown: name the one that was expected.
    for (const auto& operation : operations) {
      if (operation.level != level || operation.comp != comp || operation.restype != restype ||
          operation.method != request.method) {
        continue;
      }
      auto value = request.headers.find(operation.header);
      return value ? wire::invalid_header(operation.header, *value) : wire::missing_header(operation.header);
    }
  }
  if (path_known) return wire::Error(wire::Code::kUnsupportedHttpVerb);
  if (!comp.empty()) return wire::invalid_query("comp", comp);
  if (!restype.empty()) return wire::invalid_query("restype", restype);
  return wire::Error(wire::Code::kUnsupportedHttpVerb);
}

}  // namespace kyanite::service
