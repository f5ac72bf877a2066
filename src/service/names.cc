#include "service/names.h"

namespace kyanite::service {

using wire::Code;

wire::Result<void> check_resource_name(std::string_view name) {
  bool valid = true;
  char before = '-';
  for (const char c : name) {
    const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!alphanumeric && (c != '-' || before == '-')) valid = false;
    before = c;
  }
  if (before == '-') valid = false;
  if (name.size() < kMinResourceName || name.size() > kMaxResourceName) {
    return wire::Error(Code::kOutOfRangeInput)
        .saying("The specified resource name length is not within the permissible limits.");
  }
  if (!valid) return wire::Error(Code::kInvalidResourceName);
  return {};
}

}  // namespace kyanite::service
