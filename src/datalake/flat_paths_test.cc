// Directories where there are only names: deleting them, and what is said of them.
#include <gtest/gtest.h>

#include <string>

#include "datalake/test_flat.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;

TEST(FlatPaths, WhatIsDeleted) {
  const char* const before = "empty/ f full/1 full/2/3 fuller marked/ marked/1 ";
  const struct {
    const char* path;
    const char* query;
    const char* outcome;
    const char* names;
  } cases[] = {
      {"full", "recursive=true", "200", "empty/ f fuller marked/ marked/1 "},
      {"full/", "recursive=true", "200", "empty/ f fuller marked/ marked/1 "},
      {"full/2", "recursive=true", "200", "empty/ f full/1 fuller marked/ marked/1 "},
      {"marked", "recursive=true", "200", "empty/ f full/1 full/2/3 fuller "},
      {"empty", "recursive=true", "200", "f full/1 full/2/3 fuller marked/ marked/1 "},
      {"empty", "recursive=false", "200", "f full/1 full/2/3 fuller marked/ marked/1 "},
      {"full", "recursive=false", "409 DirectoryNotEmpty", ""},
      {"marked", "recursive=false", "409 DirectoryNotEmpty", ""},
      {"f", "recursive=true", "200", "empty/ full/1 full/2/3 fuller marked/ marked/1 "},
      {"f", "recursive=true&continuation=x", "200",
       "empty/ full/1 full/2/3 fuller marked/ marked/1 "},
      {"none", "recursive=true", "404 BlobNotFound", ""},
      {"ful", "recursive=true", "404 BlobNotFound", ""},
      {"full", "recursive=maybe", "400 InvalidQueryParameterValue", ""},
      {"full", "recursive=true&continuation=x", "400 InvalidQueryParameterValue", ""},
      {"none", "recursive=true&continuation=AAAA", "400 InvalidQueryParameterValue", ""},
  };
  for (const auto& given : cases) {
    TestFlat flat;
    flat.write({"flat/f", "flat/full/1", "flat/full/2/3", "flat/fuller", "flat/empty/",
                "flat/marked/", "flat/marked/1"});
    ASSERT_EQ(flat.names(), before);
    const std::string what = std::string(given.path) + " " + given.query;
    EXPECT_EQ(flat.send({"DELETE", std::string("flat/") + given.path, given.query}).outcome(),
              given.outcome)
        << what;
    EXPECT_EQ(flat.names(), *given.names == 0 ? before : given.names) << what;
  }
}

TEST(FlatPaths, ATreeIsDeletedInPages) {
  for (const bool marked : {false, true}) {
    TestFlat flat;
    for (int i = 0; i < 250; ++i) flat.write({"flat/d/" + std::to_string(1000 + i)});
    if (marked) flat.write({"flat/d/"});
    Request remove = TestLake::remove("flat/d");
    remove.query += "&timeout=1";
    // The one that does not go on and asks again has the rest before it.
    EXPECT_NE(flat.send(remove).header("x-ms-continuation"), "");
    EXPECT_EQ(flat.send({"HEAD", "flat/d", "action=getStatus"}).status, 200);
    const auto [pages, last] = flat.all_pages(remove);
    EXPECT_EQ(pages, 2);
    EXPECT_EQ(last.outcome(), "200");
    EXPECT_EQ(last.header("x-ms-delete-type-permanent"), "true");
    EXPECT_EQ(flat.names(), "");
  }
}

TEST(FlatPaths, ADeletionGoesOnWhereNothingIsLeft) {
  TestFlat flat;
  for (int i = 0; i < 150; ++i) flat.write({"flat/d/" + std::to_string(1000 + i)});
  Request remove = TestLake::remove("flat/d");
  remove.query += "&timeout=1";
  const std::string token = flat.send(remove).header("x-ms-continuation");
  ASSERT_NE(token, "");
  EXPECT_EQ(flat.send(remove).outcome(), "200");
  remove.query += "&continuation=" + wire::percent_encode(token);
  EXPECT_EQ(flat.send(remove).outcome(), "200");
  remove.path = "flat/e";
  EXPECT_EQ(flat.send(remove).outcome(), "400 InvalidQueryParameterValue");
}

// Who goes on with a directory does not mean the file that came to its place.
TEST(FlatPaths, ADeletionGoesOnPastAFileOfTheSameName) {
  TestFlat flat;
  for (int i = 0; i < 150; ++i) flat.write({"flat/d/" + std::to_string(1000 + i)});
  Request remove = TestLake::remove("flat/d");
  remove.query += "&timeout=1";
  const std::string token = flat.send(remove).header("x-ms-continuation");
  ASSERT_NE(token, "");
  flat.write({"flat/d"});
  remove.query += "&continuation=" + wire::percent_encode(token);
  EXPECT_EQ(flat.send(remove).outcome(), "200");
  EXPECT_EQ(flat.names(), "d ");
}

TEST(FlatPaths, WhatIsLeasedOrHeldKeepsAllOfIt) {
  const TestLake::Headers acquire{{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "-1"}};
  const struct {
    Request before;
    const char* outcome;
  } cases[] = {
      {{"PUT", "flat/d", "comp=lease", acquire}, "412 LeaseIdMissing"},
      {{"PUT", "flat/d/2", "comp=lease", acquire}, "412 LeaseIdMissing"},
      {{"PUT", "flat/d", "comp=legalhold", {{"x-ms-legal-hold", "true"}}},
       "409 BlobImmutableDueToLegalHold"},
      {{"PUT", "flat/d/2", "comp=legalhold", {{"x-ms-legal-hold", "true"}}},
       "409 BlobImmutableDueToLegalHold"},
      // Snapshots go along, as with a file.
      {{"PUT", "flat/d/2", "comp=snapshot"}, "200"},
  };
  for (const auto& given : cases) {
    for (const bool versions : {false, true}) {
      TestFlat flat;
      flat.set({.blob_versioning = versions, .blob_immutability = true});
      flat.write({"flat/d/", "flat/d/1", "flat/d/2"});
      ASSERT_LT(flat.send(given.before).status, 300);
      EXPECT_EQ(flat.send(TestLake::remove("flat/d")).outcome(), given.outcome);
      EXPECT_EQ(flat.names(), given.outcome == std::string("200") ? "" : "d/ d/1 d/2 ");
    }
  }
  TestFlat flat;
  flat.write({"flat/d/1"});
  Request remove = TestLake::remove("flat/d");
  remove.headers.emplace_back("If-Match", "\"0x1\"");
  EXPECT_EQ(flat.send(remove).outcome(), "412 ConditionNotMet");
  EXPECT_EQ(flat.names(), "d/1 ");
}

TEST(FlatPaths, WhatIsDeletedIsKeptAsByDeleteBlob) {
  TestFlat flat;
  flat.set({.blob_versioning = true});
  const auto version = flat.send(TestLake::put("flat/d/f", "one")).header("x-ms-version-id");
  EXPECT_EQ(flat.send(TestLake::remove("flat/d")).header("x-ms-delete-type-permanent"), "false");
  EXPECT_EQ(flat.send({"GET", "flat/d/f", "versionid=" + version}).body, "one");
  // Nothing that is seen lies there.
  EXPECT_EQ(flat.send(TestLake::remove("flat/d")).outcome(), "404 BlobNotFound");
  EXPECT_EQ(flat.send(TestLake::rename("flat/d", "flat/e")).outcome(), "404 SourcePathNotFound");
  flat.set({});
  flat.keep_deleted();
  flat.write({"flat/s/f"});
  EXPECT_EQ(flat.send(TestLake::remove("flat/s")).header("x-ms-delete-type-permanent"), "false");
  ASSERT_EQ(flat.send({"PUT", "flat/s/f", "comp=undelete"}).status, 200);
  EXPECT_EQ(flat.content("flat/s/f"), "flat/s/f");
}

TEST(FlatPaths, WhatIsSaidOfDirectories) {
  const TestLake::Headers json{{"Accept", "application/json"}};
  const struct {
    const char* path;
    const char* outcome;
    const char* type;
  } cases[] = {
      {"flat/f", "200", "file"},
      {"flat/marked", "200", "directory"},
      {"flat/implied", "200", "directory"},
      {"flat/implied/", "200", "directory"},
      {"flat/marked/", "200", "directory"},
      {"flat/impl", "404 BlobNotFound", ""},
      {"flat/f/x", "404 BlobNotFound", ""},
  };
  for (const std::string query : {"", "action=getStatus"}) {
    for (const auto& given : cases) {
      TestFlat flat;
      flat.write({"flat/f", "flat/implied/1", "flat/marked/"});
      const auto answer = flat.send({"HEAD", given.path, query, json});
      EXPECT_EQ(answer.outcome(), given.outcome) << given.path;
      EXPECT_EQ(answer.header("x-ms-resource-type"), given.type) << given.path;
      if (answer.status == 200) {
        EXPECT_NE(answer.header("ETag"), "") << given.path;
      }
    }
  }
  TestFlat flat;
  flat.write({"flat/implied/1"});
  const auto first = flat.send({"HEAD", "flat/implied/1", "", json}).header("ETag");
  EXPECT_EQ(flat.send({"HEAD", "flat/implied", "", json}).header("ETag"), first);
  Request other{"HEAD", "flat/implied", "action=getStatus", {{"If-Match", "\"0x1\""}}};
  EXPECT_EQ(flat.send(other).outcome(), "412 ConditionNotMet");
  // To the Blob API it is no blob.
  EXPECT_EQ(flat.send({"HEAD", "flat/implied"}).outcome(), "404 BlobNotFound");
}

// Properties, and a directory that is made again, leave it a directory; files do not take its
// place.
TEST(FlatPaths, ADirectoryStaysOne) {
  TestFlat flat;
  flat.write({"flat/d/", "flat/f"});
  const Request set{"PATCH", "flat/d", "action=setProperties", {{"x-ms-properties", "a=MQ=="}}};
  ASSERT_EQ(flat.send(set).outcome(), "200");
  EXPECT_EQ(flat.names(), "d/ f ");
  flat.write({"flat/d/"});
  EXPECT_EQ(flat.send(TestLake::make_file("flat/d")).outcome(), "409 PathConflict");
  EXPECT_EQ(flat.send(TestLake::make_directory("flat/f")).outcome(), "409 PathConflict");
  Request only_new = TestLake::make_directory("flat/d");
  only_new.headers.emplace_back("If-None-Match", "*");
  EXPECT_EQ(flat.send(only_new).outcome(), "409 BlobAlreadyExists");
  // Nor does it get bytes, which would go with what only marks the way of a rename.
  EXPECT_EQ(flat.send({"PATCH", "flat/d", "action=append&position=0", {}, "x"}).outcome(),
            "409 ResourceTypeMismatch");
  EXPECT_EQ(
      flat.send({"PATCH", "flat/d", "action=append&position=0&flush=true", {}, "x"}).outcome(),
      "409 ResourceTypeMismatch");
  EXPECT_EQ(flat.send({"PATCH", "flat/d", "action=flush&position=0"}).outcome(),
            "409 ResourceTypeMismatch");
  EXPECT_EQ(flat.names(), "d/ f ");
}

// So the service answers, and so clients find out which kind of account they have.
TEST(FlatPaths, WhatNeedsHierarchicalNamespace) {
  constexpr const char* kNot = "400 HierarchicalNamespaceNotEnabled";
  const TestLake::Headers acl{{"x-ms-acl", "user::rwx,group::rwx,other::rwx"}};
  const TestLake::Headers expiry{{"x-ms-expiry-option", "RelativeToNow"},
                                 {"x-ms-expiry-time", "1000"}};
  const TestLake::Headers lease{{"x-ms-proposed-lease-id", "7a7bfe98-cb1b-cb87-a725-27bffba74613"},
                                {"x-ms-lease-duration", "-1"}};
  const Request cases[] = {
      {"HEAD", "flat/", "action=getAccessControl"},
      {"HEAD", "flat/f", "action=getAccessControl"},
      {"HEAD", "flat/none", "action=getAccessControl"},
      {"HEAD", "flat/f", "action=checkAccess&fsAction=r--"},
      {"PATCH", "flat/f", "action=setAccessControl", acl},
      {"PATCH", "flat/none", "action=setAccessControl", acl},
      {"PATCH", "flat/", "action=setAccessControlRecursive&mode=set", acl},
      {"PATCH", "flat/f", "action=setAccessControlRecursive&mode=set", acl},
      {"PUT", "flat/new", "resource=file", {{"x-ms-permissions", "0777"}}},
      {"PUT", "flat/new", "resource=file", {{"x-ms-umask", "0027"}}},
      {"PUT", "flat/new", "resource=directory", acl},
      {"PUT", "flat/new", "resource=file", {{"x-ms-owner", "ann"}}},
      {"PUT", "flat/new", "resource=file", expiry},
      {"PUT", "flat/new", "resource=file", lease},
      {"PUT", "flat/f", "comp=expiry", expiry},
  };
  TestFlat flat;
  flat.write({"flat/f"});
  for (const Request& request : cases) {
    EXPECT_EQ(flat.send(request).outcome(), kNot)
        << request.method << " " << request.path << "?" << request.query;
  }
  EXPECT_EQ(flat.send({"HEAD", "none/", "action=getAccessControl"}).outcome(),
            "404 ContainerNotFound");
  EXPECT_EQ(flat.send({"HEAD", "flat", "resource=filesystem"}).header("x-ms-namespace-enabled"),
            "false");
  EXPECT_EQ(flat.names(), "f ");
}

}  // namespace
}  // namespace kyanite::datalake
