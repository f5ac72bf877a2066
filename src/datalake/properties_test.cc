// x-ms-properties: what of it becomes metadata, and what is refused.
#include "datalake/properties.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "datalake/test_support.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;

TEST(Properties, AreWhatMetadataCanBe) {
  constexpr const char* kName = "400 InvalidPropertyName";
  constexpr const char* kValue = "400 InvalidHeaderValue";
  const struct {
    std::string text;
    const char* outcome;
  } cases[] = {
      {"", "201"},
      {"a=" + base64("1"), "201"},
      {"a=" + base64("1") + ",_B2=" + base64("\xe2\x82\xac & <b>"), "201"},
      {"a=", "201"},
      {"=" + base64("1"), kName},
      {"1a=" + base64("1"), kName},
      {"a.b=" + base64("1"), kName},
      {"a-b=" + base64("1"), kName},
      {"a b=" + base64("1"), kName},
      {"a>=" + base64("1"), kName},
      {"a/><Name>evil</Name><b=" + base64("1"), kName},
      {"\xc3\xa9=" + base64("1"), kName},
      {"a", kValue},
      {"a=no base64", kValue},
      {"a=" + base64(std::string("\0", 1)), kValue},
      {"a=" + base64("\x01"), kValue},
      {"a=" + base64("latin \xe9"), kValue},
      {"a=" + base64("\xef\xbf\xbf"), kValue},
      {"a=" + base64("1") + ",A=" + base64("2"), kValue},
  };
  for (const auto& given : cases) {
    TestLake lake;
    const TestLake::Headers headers{{"x-ms-properties", given.text}};
    EXPECT_EQ(lake.send({"PUT", "lake/f", "resource=file", headers}).outcome(), given.outcome)
        << given.text;
    const auto listed = lake.send({"GET", "lake", "restype=container&comp=list&include=metadata"});
    EXPECT_EQ(listed.body.find("evil"), std::string::npos);
    EXPECT_TRUE(is_valid_utf8(listed.body));
    // Of file systems as well, and where something has to be there already.
    const bool made = given.outcome == std::string("201");
    EXPECT_EQ(lake.send({"PUT", "other", "resource=filesystem", headers}).outcome(), given.outcome);
    ASSERT_EQ(lake.send(TestLake::make_file("lake/g")).outcome(), "201");
    EXPECT_EQ(lake.send({"PATCH", "lake/g", "action=setProperties", headers}).outcome(),
              made ? "200" : given.outcome);
    Request move = TestLake::rename("lake/g", "lake/h");
    move.headers.push_back(headers[0]);
    EXPECT_EQ(lake.send(move).outcome(), given.outcome);
  }
}

// What else of a path is written into listings comes from headers that may hold any bytes.
TEST(Properties, ListingsAreReadableWhateverOwnersAndContextsAreCalled) {
  for (const char* header : {"x-ms-owner", "x-ms-group", "x-ms-encryption-context"}) {
    TestLake lake;
    const auto made = [&](const std::string& value) {
      return lake.send({"PUT", "lake/f", "resource=file", {{header, value}}}).outcome();
    };
    EXPECT_EQ(made("latin \xe9"), "400 InvalidHeaderValue") << header;
    EXPECT_EQ(made("\xe2\x82\xac"), "201") << header;
    const auto listed = lake.send({"GET", "lake", "resource=filesystem&recursive=true"});
    EXPECT_TRUE(is_valid_utf8(listed.body)) << header;
  }
}

}  // namespace
}  // namespace kyanite::datalake
