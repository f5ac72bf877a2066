#include "drive/paths.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes.h"

namespace kyanite::drive {

namespace {
constexpr std::string_view kDefaultStream = "::$data";

// Whether the names of parents lead above the root.
bool leaves_root(std::string_view text) {
  int depth = 0;
  while (!text.empty() && depth >= 0) {
    const size_t end = std::min(text.find('\\'), text.size());
    const std::string_view name = text.substr(0, end);
    if (name == "..") {
      --depth;
    } else if (name != ".") {
      ++depth;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return depth < 0;
}
}  // namespace

Result<WirePath, smb::Status> parse_wire_path(const tree::NameRules& rules, std::string_view text,
                                              bool leading_slash) {
  using smb::Status;
  WirePath wire;
  if (text.starts_with('\\')) {
    if (!leading_slash) return Status::kInvalidParameter;
    text.remove_prefix(1);
  }
  if (text.find('/') != std::string_view::npos) return Status::kObjectNameInvalid;
  if (text.size() >= kDefaultStream.size() &&
      equals_ignoring_case(text.substr(text.size() - kDefaultStream.size()), kDefaultStream))
    text.remove_suffix(kDefaultStream.size());
  if (text.ends_with('\\')) {
    wire.names_directory = true;
    text.remove_suffix(1);
    if (text.empty() || text.ends_with('\\')) return Status::kObjectNameInvalid;
  }
  if (leaves_root(text)) return Status::kObjectPathSyntaxBad;
  std::string path(text);
  std::replace(path.begin(), path.end(), '\\', '/');
  auto parsed = tree::parse_path(rules, path, true);
  if (!parsed) return Status::kObjectNameInvalid;
  wire.path = std::move(*parsed);
  return wire;
}

}  // namespace kyanite::drive
