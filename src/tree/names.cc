#include "tree/names.h"

#include <algorithm>

#include "base/bytes.h"
#include "tree/fold.h"

namespace kyanite::tree {

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

bool is_windows_name(std::string_view name) {
  const auto forbidden = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || kForbidden.find(c) != std::string_view::npos;
  };
  return !is_device(name) && std::none_of(name.begin(), name.end(), forbidden);
}

Result<void> check_name(const NameRules& rules, std::string_view name) {
  // The rows of former states rely on names without zero bytes.
  if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string_view::npos ||
      (rules.folded && !is_windows_name(name))) {
    return Error(Reason::kBadName);
  }
  if (utf16_length(name) > rules.max_name) return Error(Reason::kNameTooLong);
  return {};
}

}  // namespace

Result<Path> parse_path(const NameRules& rules, std::string_view text, bool keep_dots) {
  while (!text.empty() && text.back() == '/') text.remove_suffix(1);
  if (!is_valid_utf8(text)) return Error(Reason::kBadText);
  if (utf16_length(text) > rules.max_path) return Error(Reason::kPathTooLong);
  Path path;
  while (!text.empty()) {
    const size_t slash = text.find('/');
    std::string_view name = text.substr(0, slash);
    if (rules.folded && !keep_dots && name != "." && name != "..") {
      while (!name.empty() && name.back() == '.') name.remove_suffix(1);
    }
    if (auto valid = check_name(rules, name); !valid) return valid.error();
    path.emplace_back(name);
    text = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  }
  if (path.size() > rules.max_depth) return Error(Reason::kPathTooDeep);
  return path;
}

std::string stored_name(const NameRules& rules, std::string_view name) {
  return rules.folded ? fold(name) : std::string(name);
}

}  // namespace kyanite::tree
