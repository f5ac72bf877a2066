#include "service/operation.h"

#include "base/bytes.h"

namespace kyanite::service {

namespace {
bool fits(const Operation::Selector& selector, const http::Headers& headers) {
  if (selector.header.empty()) return true;
  auto value = headers.find(selector.header);
  return value && (selector.value.empty() || equals_ignoring_case(*value, selector.value));
}
}  // namespace

wire::Result<const Operation*> route(std::span<const Operation> operations,
                                     const http::Request& request, const wire::Query& query,
                                     auth::Level level) {
  const std::string_view restype = query.get("restype");
  const std::string_view comp = query.get("comp");
  bool path_known = false;  // Some row has this level, restype and comp, whatever its method.
  const Operation* nearest = nullptr;  // The last row that only a header keeps from fitting.
  for (const auto& operation : operations) {
    if (operation.level != level || !equals_ignoring_case(operation.comp, comp) ||
        !equals_ignoring_case(operation.restype, restype)) {
      continue;
    }
    path_known = true;
    if (operation.method != request.method) continue;
    nearest = &operation;
    const auto& [parameter, value] = operation.query_selector;
    if (fits(operation.selectors[0], request.headers) &&
        fits(operation.selectors[1], request.headers) &&
        (parameter.empty() || equals_ignoring_case(query.get(parameter), value)))
      return &operation;
  }
  if (nearest != nullptr) {
    const auto header = nearest->selectors[0].header;
    auto value = request.headers.find(header);
    return value ? wire::invalid_header(header, *value) : wire::missing_header(header);
  }
  if (path_known) return wire::Error(wire::Code::kUnsupportedHttpVerb);
  if (!comp.empty()) return wire::invalid_query("comp", comp);
  if (!restype.empty()) return wire::invalid_query("restype", restype);
  // All there is to read of a service itself has a name.
  if (level == auth::Level::kService && request.method == "GET")
    return wire::invalid_query("comp", comp);
  return wire::Error(wire::Code::kUnsupportedHttpVerb);
}

}  // namespace kyanite::service
