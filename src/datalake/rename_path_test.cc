// What is at the destination of a rename, and what may be its source.
#include <gtest/gtest.h>

#include <string>

#include "datalake/test_support.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;

TEST(RenamePath, IntoADirectoryUnlessTheModeIsLegacy) {
  const struct {
    const char* from;
    const char* to;
    const char* query;
    bool only_new;  // If-None-Match: *
    const char* outcome;
    const char* tree;
  } cases[] = {
      {"f", "empty", "", false, "201", "empty/ empty/f full/ full/f src/ src/1 "},
      {"f", "empty", "mode=posix", false, "201", "empty/ empty/f full/ full/f src/ src/1 "},
      {"f", "empty", "mode=legacy", false, "409 InvalidSourceOrDestinationResourceType", ""},
      {"src", "empty", "", false, "201", "empty/ empty/src/ empty/src/1 f full/ full/f "},
      {"src", "empty", "", true, "201", "empty/ empty/src/ empty/src/1 f full/ full/f "},
      {"src", "empty", "mode=legacy", false, "201", "empty/ empty/1 f full/ full/f "},
      {"src", "full", "", false, "201", "empty/ f full/ full/f full/src/ full/src/1 "},
      {"src", "full", "mode=legacy", false, "409 PathAlreadyExists", ""},
      {"f", "full", "", true, "409 BlobAlreadyExists", ""},
      {"f", "full", "", false, "201", "empty/ full/ full/f src/ src/1 "},
      {"full", "f", "", false, "409 InvalidSourceOrDestinationResourceType", ""},
      {"src", "src", "", false, "409 InvalidRenameSourcePath", ""},
      {"src", "new", "", true, "201", "empty/ f full/ full/f new/ new/1 "},
      {"full/f", "", "", true, "409 BlobAlreadyExists", ""},
      {"src/1", "", "", true, "201", "1 empty/ f full/ full/f src/ "},
      {"src/1", "", "mode=legacy", false, "201", "1 empty/ f full/ full/f src/ "},
      {"src", "new", "mode=other", false, "400 InvalidQueryParameterValue", ""},
  };
  for (const auto& given : cases) {
    TestLake lake;
    for (const char* path : {"lake/f", "lake/full/f", "lake/src/1"})
      ASSERT_EQ(lake.send(TestLake::make_file(path)).outcome(), "201");
    ASSERT_EQ(lake.send(TestLake::make_directory("lake/empty")).outcome(), "201");
    const std::string before = lake.tree();
    Request move =
        TestLake::rename(std::string("lake/") + given.from, std::string("lake/") + given.to);
    move.query = given.query;
    if (given.only_new) move.headers.emplace_back("If-None-Match", "*");
    const std::string what = std::string(given.from) + " to " + given.to + " " + given.query;
    EXPECT_EQ(lake.send(move).outcome(), given.outcome) << what;
    EXPECT_EQ(lake.tree(), *given.tree == 0 ? before : given.tree) << what;
    EXPECT_EQ(lake.out_of_reach(), 0u) << what;
  }
}

// Blocks that were never committed are a blob that is replaced, and may be leased.
TEST(RenamePath, OverBlocksThatWait) {
  constexpr const char* kLease = "7a7bfe98-cb1b-cb87-a725-27bffba74613";
  const struct {
    bool leased;
    const char* lease_id;
    bool over_file;
    const char* outcome;
  } cases[] = {
      {false, "", false, "201"},
      {false, "", true, "201"},
      {false, kLease, false, "412 LeaseNotPresentWithBlobOperation"},
      {true, "", false, "412 LeaseIdMissing"},
      {true, "00000000-cb1b-cb87-a725-27bffba74613", false, "412 LeaseIdMismatchWithBlobOperation"},
      {true, kLease, false, "201"},
  };
  for (const auto& given : cases) {
    TestLake lake;
    ASSERT_EQ(lake.send(TestLake::put("lake/f", "content")).outcome(), "201");
    if (given.over_file) {
      ASSERT_EQ(lake.send(TestLake::put("lake/g", "other")).outcome(), "201");
    }
    ASSERT_EQ(lake.send({"PUT", "lake/g", "comp=block&blockid=AA==", {}, "x"}).outcome(), "201");
    if (given.leased) {
      const TestLake::Headers acquire{{"x-ms-lease-action", "acquire"},
                                      {"x-ms-lease-duration", "-1"},
                                      {"x-ms-proposed-lease-id", kLease}};
      ASSERT_EQ(lake.send({"PUT", "lake/g", "comp=lease", acquire}).outcome(), "201");
    }
    Request move = TestLake::rename("lake/f", "lake/g");
    if (*given.lease_id != 0) move.headers.emplace_back("x-ms-lease-id", given.lease_id);
    EXPECT_EQ(lake.send(move).outcome(), given.outcome) << given.lease_id;
    if (given.outcome != std::string("201")) continue;
    const auto moved = lake.send({"GET", "lake/g"});
    EXPECT_EQ(moved.body, "content");
    EXPECT_EQ(moved.header("x-ms-lease-state"), given.leased ? "leased" : "available");
    Request blocks{"GET", "lake/g", "comp=blocklist&blocklisttype=uncommitted"};
    EXPECT_EQ(lake.send(blocks).body.find("<Name>"), std::string::npos);
  }
}

TEST(RenamePath, OfAPathOnly) {
  TestLake lake;
  ASSERT_EQ(lake.send(TestLake::put("lake/f", "content")).outcome(), "201");
  const auto snapshot = lake.send({"PUT", "lake/f", "comp=snapshot"}).header("x-ms-snapshot");
  for (const std::string& former : {"?snapshot=" + snapshot, "?versionid=" + snapshot})
    EXPECT_EQ(lake.send(TestLake::rename("lake/f" + former, "lake/g")).outcome(),
              "400 InvalidQueryParameterValue");
  Request to = TestLake::rename("lake/f", "lake/g");
  to.query += "&snapshot=" + snapshot;
  EXPECT_EQ(lake.send(to).outcome(), "400 InvalidQueryParameterValue");
  EXPECT_EQ(lake.tree(), "f ");
}

}  // namespace
}  // namespace kyanite::datalake
