#include "wire/date.h"

#include <gtest/gtest.h>

namespace kyanite::wire {
namespace {

TEST(Date, HttpFormRoundTrips) {
  const Time time = Time::from_unix_seconds(1660337642);
  EXPECT_EQ(http_date(time), "Fri, 12 Aug 2022 20:54:02 GMT");
  EXPECT_EQ(parse_http_date("Fri, 12 Aug 2022 20:54:02 GMT"), time);
  EXPECT_EQ(parse_http_date("Friday, 12-Aug-22 20:54:02 GMT"), time);
  EXPECT_EQ(parse_http_date("Fri Aug 12 20:54:02 2022"), time);
}

TEST(Date, MatchesKnownTicks) {
  // The first instant of the Unix epoch, and a leap day.
  EXPECT_EQ(parse_iso_date("1970-01-01T00:00:00Z")->ticks, kUnixEpochTicks);
  EXPECT_EQ(parse_iso_date("0001-01-01")->ticks, 0);
  EXPECT_EQ(iso_date(*parse_iso_date("2024-02-29T23:59:59.1234567Z")),
            "2024-02-29T23:59:59.1234567Z");
}

TEST(Date, EveryDayOfFourCenturiesRoundTrips) {
  for (int64_t day = 0; day < 146097; day += 1) {
    const Time time = {day * 86400 * kTicksPerSecond + 5};
    ASSERT_EQ(parse_iso_date(iso_date(time)), time);
  }
}

TEST(Date, IsoForms) {
  const Time minute = *parse_iso_date("2022-08-12T20:54:00Z");
  EXPECT_EQ(parse_iso_date("2022-08-12T20:54Z"), minute);
  EXPECT_EQ(parse_iso_date("2022-08-12T22:54:00+02:00"), minute);
  EXPECT_EQ(parse_iso_date("2022-08-12T20:54:00.0Z"), minute);
  EXPECT_EQ(parse_iso_date("2022-08-12T20:54:00.000000000Z"), minute);
}

TEST(Date, RefusesNonsense) {
  for (const char* text : {"", "x", "2022-13-01", "2022-02-30", "2022-08-12T24:00Z",
                           "2022-08-12T20:54Zz", "2022-8-12", "2022-08-12T20:54:00.Z"}) {
    EXPECT_FALSE(parse_iso_date(text)) << text;
  }
  for (const char* text : {"", "Fri", "Fri, 12 Foo 2022 20:54:02 GMT", "Fri, 12 Aug 2022 20:54:02",
                           "Fri, 31 Feb 2022 20:54:02 GMT", "Fri, 12 Aug 2022 20:54:02 GMT, x"}) {
    EXPECT_FALSE(parse_http_date(text)) << text;
  }
}

}  // namespace
}  // namespace kyanite::wire
