// Whoever wants to be the first, and how a client finds its own creation again.
#include <gtest/gtest.h>

#include <string>

#include "datalake/test_support.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;

TEST(CreatePath, WhoeverWantsToBeTheFirstIsToldOfAnotherEvenIfItIsLeased) {
  TestLake lake;
  ASSERT_EQ(lake.send(TestLake::make_file("lake/d/f")).outcome(), "201");
  ASSERT_EQ(lake.send(TestLake::make_file("lake/leased")).outcome(), "201");
  ASSERT_EQ(lake.send({"POST",
                       "lake/leased",
                       "",
                       {{"x-ms-lease-action", "acquire"},
                        {"x-ms-lease-duration", "-1"},
                        {"x-ms-proposed-lease-id", "7a7bfe98-cb1b-cb87-a725-27bffba74613"}}})
                .outcome(),
            "201");
  for (const char* path : {"lake/d", "lake/d/f", "lake/leased"}) {
    Request make = TestLake::make_directory(path);
    make.headers.emplace_back("If-None-Match", "*");
    EXPECT_EQ(lake.send(make).outcome(), "409 BlobAlreadyExists") << path;
    make.query = "resource=file";
    EXPECT_EQ(lake.send(make).outcome(), "409 BlobAlreadyExists") << path;
  }
  EXPECT_EQ(lake.tree(), "d/ d/f leased ");
}

TEST(CreatePath, ShowsWhatTheClientCalledIt) {
  constexpr const char* kHeader = "x-ms-client-transaction-id";
  constexpr const char* kFirst = "11111111-2222-3333-4444-555555555555";
  constexpr const char* kSecond = "66666666-7777-8888-9999-000000000000";
  TestLake lake;
  const auto shown = [&](const std::string& path) {
    return lake.send({"HEAD", path, "action=getStatus"}).header(kHeader);
  };
  Request make = TestLake::make_file("lake/f");
  make.headers.emplace_back(kHeader, kFirst);
  ASSERT_EQ(lake.send(make).outcome(), "201");
  EXPECT_EQ(shown("lake/f"), kFirst);
  Request move = TestLake::rename("lake/f", "lake/g");
  move.headers.emplace_back(kHeader, kSecond);
  ASSERT_EQ(lake.send(move).outcome(), "201");
  EXPECT_EQ(shown("lake/g"), kSecond);
  ASSERT_EQ(lake.send(TestLake::make_file("lake/g")).outcome(), "201");
  EXPECT_EQ(shown("lake/g"), "");
  make.headers[0].second = "no id";
  EXPECT_EQ(lake.send(make).outcome(), "400 InvalidHeaderValue");
}

}  // namespace
}  // namespace kyanite::datalake
