// x-ms-properties: what of it becomes metadata, and what is refused.
#include "datalake/properties.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "datalake/test_support.h"
#include "wire/xml.h"

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
  for (const char* header : {"x-ms-owner", "x-ms-group", "x-ms-encryption-context",
                             "x-ms-content-type", "x-ms-content-encoding", "x-ms-content-language",
                             "x-ms-content-disposition", "x-ms-cache-control"}) {
    TestLake lake;
    const auto made = [&](const std::string& value) {
      return lake.send({"PUT", "lake/f", "resource=file", {{header, value}}}).outcome();
    };
    EXPECT_EQ(made("latin \xe9"), "400 InvalidHeaderValue") << header;
    EXPECT_EQ(made("\xe2\x82\xac"), "201") << header;
    const auto listed = lake.send({"GET", "lake", "resource=filesystem&recursive=true"});
    EXPECT_TRUE(is_valid_utf8(listed.body)) << header;
    const auto blobs = lake.send({"GET", "lake", "restype=container&comp=list"});
    EXPECT_TRUE(wire::xml_can_hold(blobs.body)) << header;
  }
}

TEST(Properties, ThatAreSetLaterAreReadableToo) {
  for (const char* header : {"x-ms-content-type", "x-ms-content-encoding", "x-ms-content-language",
                             "x-ms-content-disposition", "x-ms-cache-control"}) {
    TestLake lake;
    ASSERT_EQ(lake.send(TestLake::make_file("lake/f")).outcome(), "201");
    for (const char* query : {"action=setProperties", "action=flush&position=0"}) {
      const Request request{"PATCH", "lake/f", query, {{header, "latin \xe9"}}};
      EXPECT_EQ(lake.send(request).outcome(), "400 InvalidHeaderValue") << header << " " << query;
    }
  }
  // What is appended and flushed at once says the type of the whole.
  TestLake lake;
  ASSERT_EQ(lake.send(TestLake::make_file("lake/f")).outcome(), "201");
  const auto append = [&](const char* type) {
    return lake.send(
        {"PATCH", "lake/f", "action=append&position=0&flush=true", {{"Content-Type", type}}, "x"});
  };
  EXPECT_EQ(append("latin \xe9").outcome(), "400 InvalidHeaderValue");
  EXPECT_EQ(append("text/plain").outcome(), "202");
}

}  // namespace
}  // namespace kyanite::datalake
