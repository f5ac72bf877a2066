#include "service/operation.h"

#include "base/bytes.h"

namespace kyanite::service {

namespace {
bool fits(const Operation::Selector& selector, const http::Headers& headers) {
  if (selector.header.empty()) return true;
  auto value = headers.find(selector.header);
  return value && (selector.value.empty() || equals_ignoring_case(*value, selector.value));
}

bool fits_headers(const Operation& operation, const http::Headers& headers) {
  return fits(operation.selectors[0], headers) && fits(operation.selectors[1], headers);
}

// Most are of another length.
bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && equals_ignoring_case(a, b);
}

// What a request says of the resource, whatever it does to it.
struct Path {
  auth::Level level;
  std::string_view restype;
  std::string_view comp;
  const wire::Query& query;

  bool leads_to(const Operation& operation) const {
    if (operation.level != level || !is_same(operation.comp, comp) ||
        !is_same(operation.restype, restype)) {
      return false;
    }
    const auto& [parameter, wanted] = operation.query_selector;
    if (parameter.empty()) return true;
    const auto value = query.find(parameter);
    return value && (wanted.empty() || equals_ignoring_case(*value, wanted));
  }
};

// Why no row fits.
wire::Error no_row(std::span<const Operation> operations, const http::Request& request,
                   const Path& path) {
  bool path_known = false;  // Some row has this level, restype and comp, whatever its method.
  // The last served row that only a header keeps from fitting.
  const Operation* nearest = nullptr;
  for (const auto& operation : operations) {
    if (!path.leads_to(operation)) continue;
    path_known = true;
    if (operation.method == request.method && operation.run != nullptr) nearest = &operation;
  }
  if (nearest != nullptr) {
    const auto header = nearest->selectors[0].header;
    auto value = request.headers.find(header);
    return value ? wire::invalid_header(header, *value) : wire::missing_header(header);
  }
  if (path_known) return wire::Error(wire::Code::kUnsupportedHttpVerb);
  // All there is of a service itself has a name.
  if (path.level == auth::Level::kService) {
    return wire::invalid_query("comp", path.comp)
        .with("Reason", "")
        .naming(wire::Error::Names::kCode);
  }
  if (!path.comp.empty()) return wire::invalid_query("comp", path.comp);
  if (!path.restype.empty()) return wire::invalid_query("restype", path.restype);
  return wire::Error(wire::Code::kUnsupportedHttpVerb);
}
}  // namespace

wire::Result<const Operation*> route(std::span<const Operation> operations,
                                     const http::Request& request, const wire::Query& query,
                                     auth::Level level) {
  const Path path{level, query.get("restype"), query.get("comp"), query};
  for (const auto& operation : operations) {
    // Every request comes by here: what tells most rows apart is looked at first.
    if (operation.level != level || operation.comp.size() != path.comp.size() ||
        operation.method != request.method)
      continue;
    if (path.leads_to(operation) && fits_headers(operation, request.headers)) return &operation;
  }
  return no_row(operations, request, path);
}

}  // namespace kyanite::service
