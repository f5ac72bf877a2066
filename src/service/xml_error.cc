#include "service/xml_error.h"

#include <algorithm>
#include <string>

namespace kyanite::service {

wire::Error invalid_xml(std::string_view document, size_t offset, std::string_view reason) {
  const std::string_view before = document.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // 0 when there is none.
  return wire::Error(wire::Code::kInvalidXmlDocument)
      .with("LineNumber", std::to_string(lines + 1))
      .with("LinePosition", std::to_string(before.size() - line_start + 1))
      .with("Reason", reason);
}

}  // namespace kyanite::service
