// Access control of whole trees: counts, pages, failures, what comes between; and the deletion of
// trees that must be looked through first.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "datalake/test_support.h"
#include "wire/query.h"

namespace kyanite::datalake {
namespace {

using auth::Caller;
using auth::Role;
using Request = TestLake::Request;

constexpr const char* kRefused = "403 AuthorizationPermissionMismatch";
constexpr const char* kEntries = "user::rwx,group::r--,other::---,user:ann:r-x";

class Tree : public TestLake {
 public:
  Tree() {
    for (const char* file : {"lake/d/a/1", "lake/d/a/2", "lake/d/b/1", "lake/d/c", "lake/other"})
      EXPECT_EQ(send(make_file(file)).outcome(), "201");
  }

  static Request order(const std::string& path, const std::string& mode, const std::string& acl,
                       const std::string& more = {}) {
    return {
        "PATCH", path, "action=setAccessControlRecursive&mode=" + mode + more, {{"x-ms-acl", acl}}};
  }
  std::string acl(const std::string& path) {
    return send({"HEAD", path, "action=getAccessControl"}).header("x-ms-acl");
  }
  static std::string counts(uint64_t directories, uint64_t files, const std::string& failed = {},
                            int failures = 0) {
    return R"({"directoriesSuccessful":)" + std::to_string(directories) + R"(,"failedEntries":[)" +
           failed + R"(],"failureCount":)" + std::to_string(failures) + R"(,"filesSuccessful":)" +
           std::to_string(files) + "}\n";
  }
  static std::string failure(const std::string& path, bool directory) {
    return R"({"errorMessage":"This request is not authorized to perform this operation using )"
           R"(this permission.","name":")" +
           path + R"(","type":")" + (directory ? "DIRECTORY" : "FILE") + R"("})";
  }
  static std::string following(const Answer& answer) {
    const auto token = answer.header("x-ms-continuation");
    return token.empty() ? "" : "&continuation=" + wire::percent_encode(token);
  }
};

Caller named(const char* object_id, Role role = Role::kNone) {
  Caller caller;
  caller.kind = Caller::Kind::kBearer;
  caller.object_id = object_id;
  caller.role = role;
  return caller;
}

TEST(RecursiveAccess, SetsModifiesAndRemoves) {
  Tree lake;
  const auto set = lake.send(Tree::order("lake/d", "set", kEntries));
  EXPECT_EQ(set.outcome(), "200");
  EXPECT_EQ(set.body, Tree::counts(3, 4));
  EXPECT_EQ(set.header("x-ms-namespace-enabled"), "true");
  EXPECT_EQ(set.header("x-ms-continuation"), "");
  const std::string list = "user::rwx,user:ann:r-x,group::r--,mask::r-x,other::---";
  for (const char* path : {"lake/d", "lake/d/a", "lake/d/a/2", "lake/d/c"})
    EXPECT_EQ(lake.acl(path), list) << path;
  EXPECT_EQ(lake.acl("lake/other"), "user::rw-,group::r--,other::---");

  EXPECT_EQ(lake.send(Tree::order("lake/d/a", "modify", "user:bob:-w-,default:user:bob:rwx")).body,
            Tree::counts(1, 2));
  EXPECT_EQ(lake.acl("lake/d/a/1"),
            "user::rwx,user:ann:r-x,user:bob:-w-,group::r--,mask::rwx,other::---");
  EXPECT_EQ(lake.acl("lake/d/a"),
            "user::rwx,user:ann:r-x,user:bob:-w-,group::r--,mask::rwx,other::---,"
            "default:user::rwx,default:user:bob:rwx,default:group::r--,default:mask::rwx,"
            "default:other::---");
  EXPECT_EQ(lake.acl("lake/d/b/1"), list);

  EXPECT_EQ(lake.send(Tree::order("lake/d", "remove", "user:ann,user:bob,default:user:bob")).body,
            Tree::counts(3, 4));
  EXPECT_EQ(lake.acl("lake/d/b/1"), "user::rwx,group::r--,mask::r--,other::---");

  // A file alone, and all there is.
  EXPECT_EQ(lake.send(Tree::order("lake/d/c", "set", kEntries)).body, Tree::counts(0, 1));
  EXPECT_EQ(lake.send(Tree::order("lake/", "set", kEntries)).body, Tree::counts(4, 5));
  EXPECT_EQ(lake.acl("lake/"), list);
  EXPECT_EQ(lake.acl("lake/other"), list);
}

TEST(RecursiveAccess, ETagsStay) {
  Tree lake;
  const auto before = lake.send({"HEAD", "lake/d/c"}).header("ETag");
  lake.around.clock.advance_seconds(5);
  ASSERT_EQ(lake.send(Tree::order("lake/d", "set", kEntries)).status, 200);
  EXPECT_EQ(lake.send({"HEAD", "lake/d/c"}).header("ETag"), before);
}

TEST(RecursiveAccess, WhatIsRefused) {
  Tree lake;
  const std::pair<Request, const char*> cases[] = {
      {Tree::order("lake/none", "set", kEntries), "404 BlobNotFound"},
      {Tree::order("lake/d", "replace", kEntries), "400 InvalidQueryParameterValue"},
      {Tree::order("lake/d", "set", "user::rwx"), "400 InvaldAccessControlList"},
      {Tree::order("lake/d", "set", "asdf"), "400 InvaldAccessControlList"},
      {Tree::order("lake/d", "modify", "user:ann"), "400 InvaldAccessControlList"},
      {Tree::order("lake/d", "remove", "user:ann:rwx"), "400 InvaldAccessControlList"},
      {Tree::order("lake/d", "set", kEntries, "&maxRecords=0"), "400 InvalidQueryParameterValue"},
      {Tree::order("lake/d", "set", kEntries, "&maxRecords=x"), "400 InvalidQueryParameterValue"},
      {Tree::order("lake/d", "set", kEntries, "&forceFlag=x"), "400 InvalidQueryParameterValue"},
      // What is no token of the service is trouble to it, as recorded.
      {Tree::order("lake/d", "set", kEntries, "&continuation=?"), "500 InternalError"},
      {{"PATCH", "lake/d", "action=setAccessControlRecursive", {{"x-ms-acl", kEntries}}},
       "400 MissingRequiredQueryParameter"},
      {{"PATCH", "lake/d", "action=setAccessControlRecursive&mode=set"},
       "400 MissingRequiredHeader"},
  };
  for (const auto& [request, outcome] : cases)
    EXPECT_EQ(lake.send(request).outcome(), outcome) << request.query;
}

TEST(RecursiveAccess, GoesOnWhereItWasWhateverComesBetween) {
  Tree lake;
  const std::string two = "&maxRecords=2";
  const auto first = lake.send(Tree::order("lake/d", "set", kEntries, two));
  EXPECT_EQ(first.body, Tree::counts(2, 0));
  ASSERT_NE(Tree::following(first), "");
  // The next one is renamed, and the directory is.
  ASSERT_EQ(lake.send(TestLake::rename("lake/d/a/1", "lake/d/a/3")).outcome(), "201");
  ASSERT_EQ(lake.send(TestLake::rename("lake/d", "lake/e")).outcome(), "201");
  const auto second =
      lake.send(Tree::order("lake/e", "set", kEntries, two + Tree::following(first)));
  EXPECT_EQ(second.body, Tree::counts(0, 2));
  // All of the directory that comes next goes away.
  ASSERT_EQ(lake.send(TestLake::remove("lake/e/b")).outcome(), "200");
  const auto last =
      lake.send(Tree::order("lake/e", "set", kEntries, two + Tree::following(second)));
  EXPECT_EQ(last.body, Tree::counts(0, 1));
  EXPECT_EQ(Tree::following(last), "");
  EXPECT_EQ(lake.acl("lake/e/a/3"), "user::rwx,user:ann:r-x,group::r--,mask::r-x,other::---");
}

TEST(RecursiveAccess, ManyPathsTakeSeveralCommitsAndCalls) {
  Tree lake;
  constexpr int kFiles = 2600;
  for (int i = 0; i < kFiles; ++i)
    ASSERT_EQ(lake.send(TestLake::make_file("lake/many/" + std::to_string(i))).status, 201);
  // More than a call may do is as much as it may.
  const auto first = lake.send(Tree::order("lake/many", "set", kEntries, "&maxRecords=9999"));
  EXPECT_EQ(first.body, Tree::counts(1, 1999));
  const auto rest = lake.send(Tree::order("lake/many", "set", kEntries, Tree::following(first)));
  EXPECT_EQ(rest.body, Tree::counts(0, kFiles - 1999));
  EXPECT_EQ(Tree::following(rest), "");
}

// What the caller does not own fails; the rest is done only if it is told to go on.
TEST(RecursiveAccess, Failures) {
  Tree lake;
  for (const char* path :
       {"lake/d", "lake/d/a", "lake/d/a/2", "lake/d/b", "lake/d/b/1", "lake/d/c"})
    ASSERT_EQ(lake.send({"PATCH", path, "action=setAccessControl", {{"x-ms-owner", "ann"}}}).status,
              200);
  ASSERT_EQ(lake.send({"PATCH", "lake/", "action=setAccessControl", {{"x-ms-permissions", "0711"}}})
                .status,
            200);
  const auto as_ann = [&](Request request) {
    request.caller = named("ann");
    return lake.send(std::move(request));
  };
  const auto stopped = as_ann(Tree::order("lake/d", "set", kEntries));
  EXPECT_EQ(stopped.body, Tree::counts(2, 0, Tree::failure("d/a/1", false), 1));
  EXPECT_EQ(Tree::following(stopped), "");
  EXPECT_EQ(lake.acl("lake/d/c"), "user::rw-,group::r--,other::---");

  const std::string on = "&forceFlag=true&maxRecords=3";
  const auto first = as_ann(Tree::order("lake/d", "set", kEntries, on));
  EXPECT_EQ(first.body, Tree::counts(2, 0, Tree::failure("d/a/1", false), 1));
  const auto rest =
      as_ann(Tree::order("lake/d", "set", kEntries, "&forceFlag=true" + Tree::following(first)));
  EXPECT_EQ(rest.body, Tree::counts(1, 3));
  // The first path itself is the request's own.
  Request foreign = Tree::order("lake/d/a/1", "set", kEntries);
  EXPECT_EQ(as_ann(foreign).outcome(), kRefused);
  foreign.caller = named("bob", Role::kContributor);
  EXPECT_EQ(lake.send(foreign).outcome(), kRefused);
  foreign.caller = named("bob", Role::kOwner);
  EXPECT_EQ(lake.send(foreign).outcome(), "200");
}

// Who may not go through a directory does not reach what is in it, be it its own.
TEST(RecursiveAccess, OnlyWhatCanBeReached) {
  Tree lake;
  for (const char* path :
       {"lake/d", "lake/d/a/1", "lake/d/a/2", "lake/d/b", "lake/d/b/1", "lake/d/c"})
    ASSERT_EQ(lake.send({"PATCH", path, "action=setAccessControl", {{"x-ms-owner", "ann"}}}).status,
              200);
  ASSERT_EQ(lake.send({"PATCH", "lake/", "action=setAccessControl", {{"x-ms-permissions", "0711"}}})
                .status,
            200);
  Request all = Tree::order("lake/d", "modify", "user:bob:r--", "&forceFlag=true");
  all.caller = named("ann");
  EXPECT_EQ(lake.send(all).body,
            Tree::counts(2, 2,
                         Tree::failure("d/a", true) + "," + Tree::failure("d/a/1", false) + "," +
                             Tree::failure("d/a/2", false),
                         3));
}

TEST(TreeRemoval, LargeTreesAreLookedThroughInSeveralRequests) {
  Tree lake;
  constexpr int kFiles = 20'500;
  for (int i = 0; i < kFiles; ++i)
    ASSERT_EQ(lake.send(TestLake::make_file("lake/many/" + std::to_string(i))).status, 201);
  for (const char* path : {"lake/", "lake/many"})
    ASSERT_EQ(lake.send({"PATCH", path, "action=setAccessControl", {{"x-ms-permissions", "0777"}}})
                  .status,
              200);
  const auto remove = [&](const std::string& more, const char* who) {
    Request request{"DELETE", "lake/many", "recursive=true" + more};
    request.caller = named(who);
    return lake.send(std::move(request));
  };
  const auto first = remove("&paginated=true", "ann");
  EXPECT_EQ(first.outcome(), "202");
  const std::string token = Tree::following(first);
  ASSERT_NE(token, "");
  EXPECT_EQ(lake.send({"HEAD", "lake/many"}).outcome(), "200");
  // Nobody makes tokens of their own, nor uses another's, nor an old one.
  const char* const kInvalid = "400 InvalidQueryParameterValue";
  EXPECT_EQ(remove("&paginated=true&continuation=" + wire::percent_encode(base64("zzz")), "ann")
                .outcome(),
            kInvalid);
  std::string forged = *unbase64(first.header("x-ms-continuation"));
  forged.back() = '~';
  EXPECT_EQ(remove("&paginated=true&continuation=" + wire::percent_encode(base64(forged)), "ann")
                .outcome(),
            kInvalid);
  EXPECT_EQ(remove("&paginated=true" + token, "bob").outcome(), kInvalid);
  // Nor one of an account that was taken away since the request began.
  lake.around.accounts.replace({});
  EXPECT_EQ(remove("&paginated=true" + token, "ann").outcome(), kInvalid);
  lake.around.accounts.replace({{"account", {auth::Key("key")}}});
  lake.around.clock.advance_seconds(3601);
  EXPECT_EQ(remove("&paginated=true" + token, "ann").outcome(), kInvalid);
  const auto again = remove("&paginated=true", "ann");
  ASSERT_EQ(again.outcome(), "202");
  EXPECT_EQ(remove("&paginated=true" + Tree::following(again), "ann").outcome(), "200");
  EXPECT_EQ(lake.send({"HEAD", "lake/many"}).outcome(), "404 BlobNotFound");
}

TEST(RecursiveAccess, OfPathsOnly) {
  Tree lake;
  const auto snapshot = lake.send({"PUT", "lake/d/c", "comp=snapshot"}).header("x-ms-snapshot");
  for (const std::string& former : {"&snapshot=" + snapshot, "&versionid=" + snapshot})
    EXPECT_EQ(lake.send(Tree::order("lake/d/c", "set", kEntries, former)).outcome(),
              "400 InvalidQueryParameterValue");
}

// What has expired is passed by, however much of it there is.
TEST(RecursiveAccess, GoesOnPastWhatHasExpired) {
  constexpr int kExpired = 600;
  Tree lake;
  for (int i = 0; i < kExpired; ++i) {
    Request file = TestLake::make_file("lake/d/b/x" + std::to_string(i));
    file.headers = {{"x-ms-expiry-option", "RelativeToNow"}, {"x-ms-expiry-time", "1000"}};
    ASSERT_EQ(lake.send(file).outcome(), "201");
  }
  lake.around.clock.advance_seconds(2);
  const auto set = lake.send(Tree::order("lake/d", "modify", kEntries));
  EXPECT_EQ(set.body, Tree::counts(3, 4));
  EXPECT_EQ(set.header("x-ms-continuation"), "");
}

}  // namespace
}  // namespace kyanite::datalake
