// What renames where there are no directories must not do, whenever they are asked to go on.
#include <gtest/gtest.h>

#include <string>

#include "datalake/test_flat.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;

// A request that comes again when all is done finds what others made since.
TEST(RenameFlatLimits, AContinuationEndsWithItsRename) {
  for (const bool marked : {false, true}) {
    for (const char* to : {"flat/e", "other/e"}) {
      TestFlat flat;
      flat.write(numbered("flat/d/", 150));
      if (marked) flat.write({"flat/d/"});
      Request move = TestLake::rename("flat/d", to);
      move.query = "mode=legacy&timeout=1";
      const std::string token = flat.send(move).header("x-ms-continuation");
      ASSERT_NE(token, "");
      Request late = move;
      late.query += "&continuation=" + wire::percent_encode(token);
      EXPECT_EQ(flat.send(late).outcome(), "201");
      EXPECT_EQ(flat.send(late).outcome(), "201");
      flat.write({"flat/d/9999"});
      EXPECT_EQ(flat.send(late).outcome(), "400 InvalidQueryParameterValue");
      EXPECT_EQ(flat.content("flat/d/9999"), "flat/d/9999");
      // Nor is it that of others that go there.
      ASSERT_EQ(flat.send(TestLake::remove(to)).outcome(), "200");
      flat.write(numbered("flat/x/", 150));
      Request other = TestLake::rename("flat/x", to);
      other.query = move.query;
      ASSERT_NE(flat.send(other).header("x-ms-continuation"), "");
      EXPECT_EQ(flat.send(late).outcome(), "400 InvalidQueryParameterValue");
      EXPECT_EQ(flat.send(other).outcome(), "201");
    }
  }
}

}  // namespace
}  // namespace kyanite::datalake
