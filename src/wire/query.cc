#include "wire/query.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/hex.h"

namespace kyanite::wire {

namespace {
bool unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}
}  // namespace

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (text.size() - i < 3) return {};
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return {};
    out.push_back(static_cast<char>(high << 4 | low));
    i += 2;
  }
  return out;
}

std::optional<std::string> form_decode(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return percent_decode(spaced);
}

std::string percent_encode(std::string_view text, std::string_view keep) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  size_t kept = 0;  // start of what stays as it is
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (unreserved(c) || keep.find(c) != std::string_view::npos) continue;
    const auto byte = static_cast<unsigned char>(c);
    const char encoded[] = {'%', kHex[byte >> 4], kHex[byte & 15]};
    out.append(text.substr(kept, i - kept)).append(encoded, sizeof encoded);
    kept = i + 1;
  }
  return out.append(text.substr(kept));
}

bool is_signature(std::string_view parameter) {
  const size_t equals = parameter.find('=');
  if (equals == std::string_view::npos) return false;
  const auto name = form_decode(parameter.substr(0, equals));
  return name && equals_ignoring_case(*name, "sig");
}

std::optional<Query> Query::parse(std::string_view raw) {
  Query query;
  while (!raw.empty()) {
    const size_t end = raw.find('&');
    std::string_view pair = raw.substr(0, end);
    raw = end == std::string_view::npos ? std::string_view() : raw.substr(end + 1);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    auto name = form_decode(pair.substr(0, equals));
    auto value =
        equals == std::string_view::npos ? std::string() : form_decode(pair.substr(equals + 1));
    if (!name || !value || query.parameters_.size() == kMaxParameters) return {};
    query.parameters_.push_back({std::move(*name), std::move(*value)});
  }
  return query;
}

std::optional<std::string_view> Query::search(std::string_view name) const {
  for (const auto& parameter : parameters_) {
    if (equals_ignoring_case(parameter.name, name)) return parameter.value;
  }
  return {};
}

}  // namespace kyanite::wire
