#include "blob/names.h"

#include <algorithm>

#include "base/bytes.h"

namespace kyanite::blob {

using wire::Code;

wire::Result<void> check_container_name(std::string_view name) {
  if (name == kRootContainer || name == "$web" || name == "$logs" || name == "$blobchangefeed")
    return {};
  if (name.size() < kMinContainerName || name.size() > kMaxContainerName)
    return wire::Error(Code::kOutOfRangeInput);
  char before = '-';
  for (char c : name) {
    const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!alphanumeric && (c != '-' || before == '-'))
      return wire::Error(Code::kInvalidResourceName);
    before = c;
  }
  if (before == '-') return wire::Error(Code::kInvalidResourceName);
  return {};
}

wire::Result<void> check_blob_name(std::string_view name) {
  if (name.empty() || !is_valid_utf8(name) || name.find('\0') != std::string_view::npos) {
    return wire::Error(Code::kInvalidUri);
  }
  const auto continues = [](char c) { return (c & 0xc0) == 0x80; };
  const auto characters =
      name.size() - static_cast<size_t>(std::count_if(name.begin(), name.end(), continues));
  const auto segments = 1 + static_cast<size_t>(std::count(name.begin(), name.end(), '/'));
  if (characters > kMaxBlobName || segments > kMaxPathSegments)
    return wire::Error(Code::kOutOfRangeInput);
  return {};
}

}  // namespace kyanite::blob
