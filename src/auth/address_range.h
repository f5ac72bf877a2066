// The addresses a SAS may be used from (sip): one IP address, or two joined by a dash for
// everything between.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kyanite::auth {

class AddressRange {
 public:
  // Nothing when it is neither form, mixes IPv4 with IPv6, or its ends are the wrong way round.
  static std::optional<AddressRange> parse(std::string_view text);

  // `address` is numeric. IPv4 addresses written as IPv6 ("::ffff:1.2.3.4") count as IPv4.
  bool contains(std::string_view address) const;

 private:
  // IPv4 addresses in their IPv6 mapping, so that bytes compare.
  using Bytes = std::array<uint8_t, 16>;
  static std::optional<Bytes> parse_address(std::string_view text);

  Bytes first_;
  Bytes last_;
};

}  // namespace kyanite::auth
