// What both APIs say of files and directories.
#include <gtest/gtest.h>

#include <string>

#include "datalake/test_support.h"
#include "store/memory.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;

TEST(LakePaths, WhatTheBlobApiRefusesOfDirectories) {
  const struct {
    Request request;
    const char* outcome;
  } cases[] = {
      {{"DELETE", "lake/full"}, "409 DirectoryIsNotEmpty"},
      {{"DELETE", "lake/full", "", {{"x-ms-delete-snapshots", "include"}}},
       "400 OperationNotSupportedOnDirectory"},
      {{"DELETE", "lake/full", "", {{"x-ms-delete-snapshots", "only"}}},
       "400 OperationNotSupportedOnDirectory"},
      {{"PUT", "lake/full", "comp=snapshot"}, "400 OperationNotSupportedOnDirectory"},
      {TestLake::put("lake/full", "content"), "409 ResourceTypeMismatch"},
      {TestLake::remove("lake/full", false), "409 DirectoryNotEmpty"},
      {{"DELETE", "lake/empty"}, "202"},
  };
  TestLake lake;
  ASSERT_EQ(lake.send(TestLake::put("lake/full/f", "content")).outcome(), "201");
  ASSERT_EQ(lake.send(TestLake::make_directory("lake/empty")).outcome(), "201");
  for (const auto& given : cases) {
    EXPECT_EQ(lake.send(given.request).outcome(), given.outcome)
        << given.request.method << " " << given.request.path << " " << given.request.query;
  }
}

// Without directories a file moves within its container.
TEST(LakePaths, AFileIsRenamedInAFlatContainer) {
  TestLake lake;
  lake.around.context.settings = service::SettingsTable(service::AccountSettings());
  ASSERT_EQ(lake.send({"PUT", "flat", "restype=container"}).outcome(), "201");
  const std::string content(100'000, 'x');
  ASSERT_EQ(lake.send(TestLake::put("flat/d/f", content)).outcome(), "201");
  ASSERT_EQ(lake.send(TestLake::put("flat/taken", "other content")).outcome(), "201");
  ASSERT_EQ(lake.send({"PUT", "flat/taken", "comp=snapshot"}).outcome(), "201");
  const auto etag = lake.send({"HEAD", "flat/d/f"}).header("ETag");
  const struct {
    Request request;
    const char* outcome;
  } cases[] = {
      {TestLake::rename("flat/none", "flat/x"), "404 SourcePathNotFound"},
      {TestLake::rename("flat/d/f", "flat/d/f"), "409 InvalidRenameSourcePath"},
      {TestLake::rename("flat/taken", "flat/x"), "409 SnapshotsPresent"},
      {{"PUT",
        "flat/taken",
        "mode=legacy",
        {{"x-ms-rename-source", "/flat/d/f"}, {"If-None-Match", "*"}}},
       "409 BlobAlreadyExists"},
      {{"PUT",
        "flat/taken",
        "mode=legacy",
        {{"x-ms-rename-source", "/flat/d/f"}, {"x-ms-source-if-match", "\"0x1\""}}},
       "412 SourceConditionNotMet"},
      {TestLake::rename("flat/d/f", "flat/taken"), "201"},
  };
  for (const auto& given : cases)
    EXPECT_EQ(lake.send(given.request).outcome(), given.outcome) << given.request.path;
  EXPECT_EQ(lake.send({"HEAD", "flat/d/f"}).outcome(), "404 BlobNotFound");
  const auto moved = lake.send({"GET", "flat/taken"});
  EXPECT_EQ(moved.body, content);
  EXPECT_EQ(moved.header("ETag"), etag);
}

// An expired file that nobody has cleared away yet is no predecessor.
TEST(LakePaths, WhatComesInThePlaceOfAnExpiredFileIsAnother) {
  const Request ways[] = {TestLake::put("lake/f", "new"), TestLake::make_file("lake/f"),
                          TestLake::rename("lake/other", "lake/f")};
  for (const Request& replace : ways) {
    TestLake lake;
    ASSERT_EQ(lake.send(TestLake::put("lake/f", std::string(100'000, 'x'))).outcome(), "201");
    ASSERT_EQ(lake.send({"PUT", "lake/f", "comp=snapshot"}).outcome(), "201");
    ASSERT_EQ(
        lake.send(
                {"PATCH", "lake/f", "action=setAccessControl", {{"x-ms-permissions", "rwxrwxrwx"}}})
            .outcome(),
        "200");
    const Request expire{"PUT",
                         "lake/f",
                         "comp=expiry",
                         {{"x-ms-expiry-option", "RelativeToNow"}, {"x-ms-expiry-time", "1000"}}};
    ASSERT_EQ(lake.send(expire).outcome(), "200");
    ASSERT_EQ(lake.send(TestLake::make_file("lake/other")).outcome(), "201");
    lake.around.clock.advance_seconds(2);
    ASSERT_EQ(lake.send({"HEAD", "lake/f"}).outcome(), "404 BlobNotFound");
    ASSERT_EQ(lake.send(replace).outcome(), "201");
    const auto listed = lake.send({"GET", "lake", "restype=container&comp=list&include=snapshots"});
    EXPECT_EQ(listed.body.find("<Snapshot>"), std::string::npos) << listed.body;
    const auto access = lake.send({"HEAD", "lake/f", "action=getAccessControl"});
    EXPECT_EQ(access.header("x-ms-permissions"), "rw-r-----");
    EXPECT_EQ(lake.out_of_reach(), 0U);
  }
}

// What users say of a root is said of its file system.
TEST(LakePaths, ARootHasNoPropertiesOfItsOwn) {
  TestLake lake;
  lake.around.context.settings = service::SettingsTable();
  ASSERT_EQ(lake.send({"PUT", "flat", "restype=container"}).outcome(), "201");
  for (const std::string root : {"lake/", "flat/"}) {
    const TestLake::Headers properties{{"x-ms-properties", "a=YQ=="}};
    const TestLake::Headers json{{"Accept", "application/json"}};
    EXPECT_EQ(lake.send({"HEAD", root, "", json}).outcome(), "400 InvalidUri");
    EXPECT_EQ(lake.send({"PATCH", root, "action=setProperties", properties}).outcome(),
              "400 InvalidUri");
    EXPECT_EQ(lake.send({"HEAD", root, "action=getStatus"}).outcome(), "200");
  }
}

TEST(LakePaths, ADirectoryThatNobodyAskedForHasNoContentType) {
  TestLake lake;
  ASSERT_EQ(lake.send(TestLake::make_file("lake/made/f")).outcome(), "201");
  ASSERT_EQ(lake.send(TestLake::put("lake/put/f", "x")).outcome(), "201");
  ASSERT_EQ(lake.send(TestLake::make_directory("lake/asked")).outcome(), "201");
  for (const char* path : {"lake/made", "lake/put", "lake/asked"}) {
    const auto seen = lake.send({"HEAD", path});
    EXPECT_EQ(seen.header("x-ms-resource-type"), "directory");
    EXPECT_EQ(seen.header("Content-Type"),
              std::string(path) == "lake/asked" ? "application/octet-stream" : "");
  }
}

// What the service was recorded to say of encryption, which differs between the two kinds.
TEST(LakePaths, SnapshotsAndBlocksThatWaitAreToldToBeEncrypted) {
  TestLake lake;
  lake.around.context.settings = service::SettingsTable();
  ASSERT_EQ(lake.send({"PUT", "flat", "restype=container"}).outcome(), "201");
  for (const std::string container : {"lake", "flat"}) {
    const char* const told = container == "lake" ? "true" : "false";
    ASSERT_EQ(lake.send(TestLake::put(container + "/f", "x")).outcome(), "201");
    ASSERT_EQ(lake.send({"PUT", container + "/b", "comp=block&blockid=AA==", {}, "x"}).outcome(),
              "201");
    const auto snapshot = lake.send({"PUT", container + "/f", "comp=snapshot"});
    EXPECT_EQ(snapshot.header("x-ms-request-server-encrypted"), told);
    const auto listed = lake.send(
        {"GET", container, "restype=container&comp=list&prefix=b&include=uncommittedblobs"});
    EXPECT_NE(listed.body.find(std::string("<ServerEncrypted>") + told), std::string::npos)
        << listed.body;
  }
}

class CountingStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    ++commits;
    co_return co_await MemoryStore::commit(std::move(commit));
  }
  size_t commits = 0;
};

// Commits are one at a time, and those of clients wait meanwhile.
TEST(LakePaths, ManyFilesOfADeadTreeAreClearedByFewCommits) {
  constexpr size_t kFiles = 300;
  CountingStore store;
  TestLake lake(store);
  for (size_t i = 0; i < kFiles; ++i)
    ASSERT_EQ(lake.send(TestLake::put("lake/d/" + std::to_string(i), "x")).outcome(), "201");
  ASSERT_EQ(lake.send(TestLake::remove("lake/d")).outcome(), "200");
  const size_t before = store.commits;
  EXPECT_EQ(lake.out_of_reach(), 0U);
  EXPECT_LE(store.commits - before, kFiles / 20);
}

}  // namespace
}  // namespace kyanite::datalake
