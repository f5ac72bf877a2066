// Dates as the protocol writes them.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/short_text.h"

namespace kyanite::wire {

using DateText = ShortText<31>;

// RFC 1123: "Fri, 12 Aug 2022 20:54:02 GMT".
DateText http_date(Time time);
// RFC 1123, RFC 850 and asctime forms.
std::optional<Time> parse_http_date(std::string_view text);

// "2022-08-12T20:54:02.1234567Z": snapshots, versions, access policies, table timestamps.
DateText iso_date(Time time);
// "2022-08-12T20:54:02Z".
DateText iso_date_seconds(Time time);
// Date alone, hours and minutes, seconds, or up to nine digits of fraction; "Z" or a numeric
// offset, or nothing (UTC).
std::optional<Time> parse_iso_date(std::string_view text);

}  // namespace kyanite::wire
