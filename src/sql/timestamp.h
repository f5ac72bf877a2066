// Points in time as the language knows them: ISO 8601 text, with the offset it was written with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace kyanite::sql {

struct Timestamp {
  Time time;               // UTC
  int offset_minutes = 0;  // of the clock that it was read from
};

enum class DatePart { kYear, kMonth, kDay, kHour, kMinute, kSecond, kZoneHour, kZoneMinute };
// In any case: "year", "timezone_hour".
std::optional<DatePart> parse_date_part(std::string_view text);

// From a year alone to fractions of a second, with "Z", an offset, or nothing (UTC); a "T" may end
// a date.
std::optional<Timestamp> parse_timestamp(std::string_view text);
// The shortest form that reads back as the same: seconds always, a fraction where there is one.
std::string to_text(const Timestamp& at);

// Nothing where the result is outside of the years 1 to 9999. A day that the month does not have
// becomes its last one.
std::optional<Timestamp> date_add(DatePart part, int64_t quantity, const Timestamp& at);
// How many whole ones of the part lie between the two; negative if `to` is first.
int64_t date_diff(DatePart part, const Timestamp& from, const Timestamp& to);
int64_t extract(DatePart part, const Timestamp& at);
// By the letters of the reference ("MMMM d, y"); what is no letter, or quoted, stands for itself.
// Nothing when the format has a letter that means nothing.
std::optional<std::string> format(const Timestamp& at, std::string_view format);

}  // namespace kyanite::sql
