// What a directory at the destination of a rename means.
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

}  // namespace
}  // namespace kyanite::datalake
