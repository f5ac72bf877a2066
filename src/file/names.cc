#include "file/names.h"

#include "base/bytes.h"
#include "file/refusals.h"

namespace kyanite::file {

using service::Call;

wire::Result<bool> decode_flag(const Call& call, std::string_view header) {
  const auto text = call.headers().find(header);
  if (!text || text->empty()) return false;
  if (equals_ignoring_case(*text, "true")) return true;
  if (equals_ignoring_case(*text, "false")) return false;
  return wire::invalid_header(header, *text);
}

wire::Result<Path> decode_path(const Call& call) {
  auto keep_dots = decode_flag(call, "x-ms-allow-trailing-dot");
  if (!keep_dots) return keep_dots.error();
  auto path = tree::parse_path(tree::kShareNames, call.target.object, *keep_dots);
  if (!path) return refusal(path.error());
  return std::move(*path);
}

}  // namespace kyanite::file
