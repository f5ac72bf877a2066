#include "file/names.h"

#include <algorithm>

#include "base/bytes.h"
#include "file/fold.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kForbidden = "\"\\/:|<>*?";

// Devices of DOS, which Windows clients could not open as files.
bool is_device(std::string_view name) {
  for (const std::string_view device : {"PRN", "AUX", "NUL", "CON", "CLOCK$"}) {
    if (equals_ignoring_case(name, device)) return true;
  }
  return name.size() == 4 && name[3] >= '1' && name[3] <= '9' &&
         (equals_ignoring_case(name.substr(0, 3), "COM") ||
          equals_ignoring_case(name.substr(0, 3), "LPT"));
}

wire::Result<void> check_name(std::string_view name) {
  const auto forbidden = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || kForbidden.find(c) != std::string_view::npos;
  };
  if (name.empty() || name == "." || name == ".." || is_device(name) ||
      std::any_of(name.begin(), name.end(), forbidden)) {
    return wire::Error(Code::kInvalidResourceName);
  }
  if (utf16_length(name) > kMaxName) return wire::Error(Code::kOutOfRangeInput);
  return {};
}

}  // namespace

wire::Result<Path> parse_path(std::string_view text, bool keep_dots) {
  while (!text.empty() && text.back() == '/') text.remove_suffix(1);
  if (!is_valid_utf8(text)) return wire::Error(Code::kInvalidUri);
  if (utf16_length(text) > kMaxPath) {
    return wire::Error(Code::kInvalidFileOrDirectoryPathName)
        .saying("File or directory path is too long.");
  }
  Path path;
  while (!text.empty()) {
    const size_t slash = text.find('/');
    std::string_view name = text.substr(0, slash);
    if (!keep_dots && name != "." && name != "..") {
      while (!name.empty() && name.back() == '.') name.remove_suffix(1);
    }
    if (auto valid = check_name(name); !valid) return valid.error();
    path.emplace_back(name);
    text = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  }
  if (path.size() > kMaxDepth) {
    return wire::Error(Code::kInvalidFileOrDirectoryPathName)
        .saying("File or directory path has too many subdirectories.");
  }
  return path;
}

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
  return parse_path(call.target.object, *keep_dots);
}

std::string join(const Path& path) {
  std::string text;
  for (const auto& name : path) {
    if (!text.empty()) text += '/';
    text += name;
  }
  return text;
}

}  // namespace kyanite::file
