#include "drive/paths.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "drive/file_status.h"

namespace kyanite::drive {

namespace {
constexpr std::string_view kDefaultStream = "::$data";

// The path without names of the directory itself and of parents; nothing when it leads above the
// root.
std::optional<std::string> resolve(std::string_view text) {
  std::vector<std::string_view> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find('/'), text.size());
    const std::string_view name = text.substr(0, end);
    if (name == "..") {
      if (names.empty()) return std::nullopt;
      names.pop_back();
    } else if (name != ".") {
      names.push_back(name);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::string path;
  for (const std::string_view name : names) {
    if (!path.empty()) path += '/';
    path += name;
  }
  return path;
}
}  // namespace

Result<WirePath, smb::Status> parse_wire_path(const tree::NameRules& rules, std::string_view text,
                                              bool leading_slash) {
  using smb::Status;
  WirePath wire;
  std::string path(text);
  std::replace(path.begin(), path.end(), '\\', '/');
  text = path;
  if (text.starts_with('/')) {
    if (!leading_slash) return Status::kInvalidParameter;
    text.remove_prefix(1);
  }
  if (text.size() >= kDefaultStream.size() &&
      equals_ignoring_case(text.substr(text.size() - kDefaultStream.size()), kDefaultStream))
    text.remove_suffix(kDefaultStream.size());
  if (text.ends_with('/')) {
    wire.names_directory = true;
    text.remove_suffix(1);
    if (text.empty() || text.ends_with('/')) return Status::kObjectNameInvalid;
  }
  if (text.find("//") != std::string_view::npos) return Status::kObjectNameInvalid;
  const auto resolved = resolve(text);
  if (!resolved) return Status::kObjectPathSyntaxBad;
  auto parsed = tree::parse_path(rules, *resolved, true);
  if (!parsed) return status_of(parsed.error());
  wire.path = std::move(*parsed);
  return wire;
}

}  // namespace kyanite::drive
