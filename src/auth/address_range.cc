#include "auth/address_range.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace kyanite::auth {

std::optional<AddressRange::Bytes> AddressRange::parse_address(std::string_view text) {
  const std::string terminated(text);
  Bytes bytes{};
  if (text.find(':') != std::string_view::npos) {
    if (inet_pton(AF_INET6, terminated.c_str(), bytes.data()) != 1) return {};
    return bytes;
  }
  bytes[10] = bytes[11] = 0xff;
  if (inet_pton(AF_INET, terminated.c_str(), bytes.data() + 12) != 1) return {};
  return bytes;
}

std::optional<AddressRange> AddressRange::parse(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = parse_address(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_address(text.substr(dash + 1));
  if (!first || !last || *last < *first) return {};
  if (!std::equal(first->begin(), first->begin() + 12, last->begin()) &&
      text.find(':') == std::string_view::npos) {
    return {};
  }
  AddressRange range;
  range.first_ = *first;
  range.last_ = *last;
  return range;
}

bool AddressRange::contains(std::string_view address) const {
  const auto bytes = parse_address(address);
  return bytes && first_ <= *bytes && *bytes <= last_;
}

}  // namespace kyanite::auth
