#include "front/logged_headers.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "wire/query.h"

namespace kyanite::front {

namespace {

constexpr std::string_view kBlank = "REDACTED";

// Credentials: what follows the scheme is secret.
constexpr std::array<std::string_view, 4> kCredentials = {"Authorization", "Proxy-Authorization",
                                                          "x-ms-copy-source-authorization",
                                                          "x-ms-file-rename-source-authorization"};
// Secret as a whole.
constexpr std::array<std::string_view, 4> kSecrets = {
    "x-ms-encryption-key", "x-ms-source-encryption-key", "Cookie", "Set-Cookie"};

template <size_t count>
bool is_one_of(std::string_view name, const std::array<std::string_view, count>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view known) { return equals_ignoring_case(name, known); });
}

std::string blank_credential(std::string_view value) {
  const size_t blank = value.find(' ');
  if (blank == std::string_view::npos) return std::string(kBlank);
  return std::string(value.substr(0, blank + 1)) + std::string(kBlank);
}

// Any value may hold a URL with a SAS: the source of a copy, a referrer. Its parts are looked at
// between the characters that separate parameters, encoded or not.
std::string blank_signatures(std::string_view value) {
  std::string shown;
  shown.reserve(value.size());
  while (!value.empty()) {
    const size_t end = std::min(value.find_first_of("?& "), value.size());
    std::string_view part = value.substr(0, end);
    if (wire::is_signature(part)) {
      shown.append("sig=").append(kBlank);
    } else if (const size_t inner = ascii_lower(part).find("sig%3d"); inner != std::string::npos) {
      shown.append(part.substr(0, inner)).append("sig%3D").append(kBlank);
    } else {
      shown.append(part);
    }
    if (end < value.size()) shown.push_back(value[end]);
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return shown;
}

// False when there is no room for more.
bool append_line(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty()) out.append(" | ");
  if (out.size() > kMaxLoggedHeaders) {
    out.append("...");
    return false;
  }
  out.append(name).append(": ").append(logged_value(name, value));
  return true;
}

}  // namespace

std::string logged_value(std::string_view name, std::string_view value) {
  if (is_one_of(name, kCredentials)) return blank_credential(value);
  if (is_one_of(name, kSecrets)) return std::string(kBlank);
  std::string shown = blank_signatures(value);
  if (shown.size() > kMaxLoggedValue) shown.replace(kMaxLoggedValue, std::string::npos, "...");
  return shown;
}

std::string logged_headers(const http::Headers& headers) {
  std::string out;
  for (const auto& [name, value] : headers) {
    if (!append_line(out, name, value)) break;
  }
  return out;
}

std::string logged_headers(std::string_view head) {
  std::string out;
  while (!head.empty()) {
    const size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    const size_t colon = std::min(line.find(':'), line.size());
    const std::string_view value = line.substr(std::min(colon + 1, line.size()));
    if (!append_line(out, line.substr(0, colon), trim(value))) break;
  }
  return out;
}

}  // namespace kyanite::front
