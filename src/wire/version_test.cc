#include "wire/version.h"

#include <gtest/gtest.h>

namespace kyanite::wire {
namespace {

TEST(Version, ParsesDatesPastAndFuture) {
  const std::pair<const char*, int> cases[] = {{"2009-09-19", 20090919},
                                               {"2026-10-06", 20261006},
                                               {"9999-12-31", 99991231},
                                               {"2020-01-01", 20200101}};
  for (const auto& [text, number] : cases) {
    const auto version = Version::parse(text);
    ASSERT_TRUE(version) << text;
    EXPECT_EQ(version->number, number);
  }
}

TEST(Version, RefusesWhatIsNoDate) {
  for (const char* text : {"", "2019", "2019-12-1", "2019-12-123", "2019/12/12", "2019-00-12",
                           "2019-13-12", "2019-12-00", "2019-12-32", " 2019-12-12", "2019-12-12 ",
                           "201a-12-12", "2019-12-1x", "-019-12-12", "20191-2-12"}) {
    EXPECT_FALSE(Version::parse(text)) << text;
  }
}

TEST(Version, ComparesLikeTheDates) {
  EXPECT_LT(*Version::parse("2019-12-11"), kLargeBlocks);
  EXPECT_GE(*Version::parse("2019-12-12"), kLargeBlocks);
  EXPECT_LT(*Version::parse("2019-12-12"), *Version::parse("2020-01-01"));
}

}  // namespace
}  // namespace kyanite::wire
