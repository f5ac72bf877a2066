// What a SAS reaches, and what its letters allow.
#include <gtest/gtest.h>

#include <string>

#include "auth/mac.h"
#include "auth/sas_string.h"
#include "base/bytes.h"
#include "datalake/test_access.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;

constexpr const char* kBeyond = "403 AuthorizationFailure";

Caller service_sas(const char* letters, auth::Scope scope) {
  Caller caller = delegated("key", letters, Role::kOwner, false);
  caller.kind = Caller::Kind::kServiceSas;
  caller.scope = scope;
  return caller;
}

Caller account_sas(const char* letters) {
  Caller caller;
  caller.kind = Caller::Kind::kAccountSas;
  caller.permissions = letters;
  caller.services = "b";
  caller.resource_types = "sco";
  return caller;
}

// The path with a SAS for it alone, as the source of a rename names it.
std::string signed_path(const std::string& path, const std::string& letters) {
  const std::string fields = "sv=2021-06-08&sr=b&se=2030-01-01T00%3A00%3A00Z&sp=" + letters;
  const std::string text = auth::service_string_to_sign(
      wire::Query::parse(fields).value(), wire::Service::kBlob, "/blob/account/" + path, "",
      wire::Version::parse("2021-06-08").value());
  const auto mac = auth::Mac::of(auth::Key("key"), text);
  return path + "?" + fields + "&sig=" + wire::percent_encode(base64(mac.bytes()));
}

// How far a SAS for a directory reaches, in both APIs.
TEST(Scopes, OfDirectories) {
  Caller sas = service_sas("racwdlmeop", auth::Scope::kDirectory);
  sas.directory = "d";
  const struct {
    Request request;
    const char* outcome;
  } cases[] = {
      {{"GET", "lake/d/f"}, "200"},
      {{"GET", "lake/de"}, kBeyond},
      {{"GET", "lake/e/f"}, kBeyond},
      {{"HEAD", "lake/d", "action=getAccessControl"}, "200"},
      {{"HEAD", "lake/", "action=getAccessControl"}, kBeyond},
      {{"GET", "lake", "resource=filesystem&recursive=true&directory=d"}, "200"},
      {{"GET", "lake", "resource=filesystem&recursive=true&directory=/d/"}, "200"},
      {{"GET", "lake", "resource=filesystem&recursive=true&directory=de"}, kBeyond},
      {{"GET", "lake", "resource=filesystem&recursive=true&directory=e"}, kBeyond},
      {{"GET", "lake", "resource=filesystem&recursive=true"}, kBeyond},
      // A prefix means nothing to Data Lake.
      {{"GET", "lake", "resource=filesystem&recursive=true&prefix=d/"}, kBeyond},
      {{"GET", "lake", "restype=container&comp=list&prefix=d/"}, "200"},
      {{"GET", "lake", "restype=container&comp=list&prefix=d"}, kBeyond},
      {{"GET", "lake", "restype=container&comp=list&prefix=e/"}, kBeyond},
      // Nor does a directory mean anything to the Blob API.
      {{"GET", "lake", "restype=container&comp=list&directory=d"}, kBeyond},
      {TestLake::rename("lake/d/f", "lake/d/g"), "201"},
      {TestLake::rename("lake/d/f", "lake/e/g"), kBeyond},
      {TestLake::rename("lake/e/f", "lake/d/g"), kBeyond},
      {TestLake::rename("other/d/f", "lake/d/g"), kBeyond},
      {TestLake::remove("lake/d"), "200"},
      {TestLake::remove("lake/e"), kBeyond},
      {{"PATCH",
        "lake/d",
        "action=setAccessControlRecursive&mode=modify",
        {{"x-ms-acl", "mask::rwx"}}},
       "200"},
      {{"PATCH",
        "lake/e",
        "action=setAccessControlRecursive&mode=modify",
        {{"x-ms-acl", "mask::rwx"}}},
       kBeyond},
      {{"PATCH",
        "lake/",
        "action=setAccessControlRecursive&mode=modify",
        {{"x-ms-acl", "mask::rwx"}}},
       kBeyond},
  };
  for (const auto& given : cases) {
    Lake lake;
    ASSERT_EQ(lake.send({"PUT", "other", "restype=container"}).status, 201);
    for (const char* file : {"lake/d/f", "lake/e/f", "lake/de", "other/d/f"}) lake.write(file);
    EXPECT_EQ(lake.as(sas, given.request).outcome(), given.outcome)
        << given.request.method << " " << given.request.path << "?" << given.request.query;
  }
}

TEST(Scopes, OfOnePathAndOfLetters) {
  const auto answer = [](const Caller& caller, const Request& request) {
    Lake lake;
    lake.write("lake/d/f");
    return lake.as(caller, request).outcome();
  };
  constexpr auto kOne = auth::Scope::kObject;
  constexpr auto kAll = auth::Scope::kContainer;
  const Request move = TestLake::rename("lake/d/f", "lake/g");
  const Request recursive{"PATCH",
                          "lake/d",
                          "action=setAccessControlRecursive&mode=modify",
                          {{"x-ms-acl", "mask::rwx"}}};
  EXPECT_EQ(answer(service_sas("racwdlmeop", kOne), recursive), kBeyond);
  EXPECT_EQ(answer(service_sas("racwdlmeop", kOne), TestLake::remove("lake/d")), kBeyond);
  EXPECT_EQ(answer(service_sas("racwdlmeop", kOne), move), kBeyond);
  EXPECT_EQ(answer(service_sas("racwdlmeop", kAll), move), "201");
  EXPECT_EQ(answer(service_sas("m", kAll), move), "201");
  EXPECT_EQ(answer(service_sas("wd", kAll), move), "201");
  EXPECT_EQ(answer(service_sas("cd", kAll), move), kRefused);
  EXPECT_EQ(answer(service_sas("w", kAll), move), kRefused);
  EXPECT_EQ(answer(service_sas("e", kAll), {"HEAD", "lake/d/f", "action=getStatus"}), "200");
  EXPECT_EQ(
      answer(service_sas("e", kAll), {"HEAD", "lake/d/f", "", {{"Accept", "application/json"}}}),
      kRefused);
}

// Renames lead a SAS for one path to no other, whichever end it came for.
TEST(Scopes, OfOnePathWhenItIsRenamed) {
  const Caller one = service_sas("racwdlmeop", auth::Scope::kObject);
  const struct {
    const char* from;  // With a SAS of its own.
    const char* to;
    const char* query;
    Caller caller;
    const char* outcome;
  } cases[] = {
      {"lake/f", "lake/new", "", one, "201"},
      {"lake/f", "lake/new", "mode=legacy", TestLake::owner(), "201"},
      // Into a directory, which is another path.
      {"lake/f", "lake/d", "", one, kBeyond},
      {"lake/f", "lake/d", "mode=legacy", one, "409 InvalidSourceOrDestinationResourceType"},
      {"lake/f", "lake/d", "", TestLake::owner(), "201"},
      {"lake/f", "lake/d", "", service_sas("racwdlmeop", auth::Scope::kContainer), "201"},
      // With all that lies in it.
      {"lake/d", "lake/new", "", one, kBeyond},
      {"lake/d", "lake/new", "", TestLake::owner(), kBeyond},
  };
  for (const auto& given : cases) {
    Lake lake;
    lake.write("lake/f");
    lake.write("lake/d/1");
    const std::string before = lake.tree();
    Request move = TestLake::rename(signed_path(given.from, "racwdlmeop"), given.to);
    move.query = given.query;
    const std::string what = std::string(given.from) + " to " + given.to + " " + given.query;
    EXPECT_EQ(lake.as(given.caller, move).outcome(), given.outcome) << what;
    if (given.outcome[0] != '2') {
      EXPECT_EQ(lake.tree(), before) << what;
    }
  }
  // The SAS that came for the destination does not name the source.
  Lake lake;
  lake.write("lake/f");
  EXPECT_EQ(lake.as(one, TestLake::rename("lake/f", "lake/new")).outcome(), kBeyond);
  Request forged = TestLake::rename(signed_path("lake/f", "r") + "x", "lake/new");
  EXPECT_EQ(lake.as(one, forged).status, 403);
  Request reads = TestLake::rename(signed_path("lake/f", "r"), "lake/new");
  EXPECT_EQ(lake.as(one, reads).outcome(), kRefused);
}

// Where directories are only names, a SAS reaches as far.
TEST(Scopes, OfFlatDirectories) {
  Caller directory = service_sas("racwdlmeop", auth::Scope::kDirectory);
  directory.directory = "d";
  const Caller one = service_sas("racwdlmeop", auth::Scope::kObject);
  const Caller all = service_sas("racwdlmeop", auth::Scope::kContainer);
  const struct {
    Caller caller;
    Request request;
    const char* outcome;
  } cases[] = {
      {directory, TestLake::rename("flat/d/a", "flat/d/b"), "201"},
      {directory, TestLake::rename("flat/d/a", "flat/e/b"), kBeyond},
      {directory, TestLake::rename("flat/e", "flat/d/b"), kBeyond},
      {directory, TestLake::rename("other/d", "flat/d/b"), kBeyond},
      {directory, TestLake::remove("flat/d/a"), "200"},
      {directory, TestLake::remove("flat/e"), kBeyond},
      {one, TestLake::rename("flat/d/a", "flat/d/b"), kBeyond},
      {one, TestLake::rename(signed_path("flat/d/a", "racwdlmeop"), "flat/d/b"), kBeyond},
      {one, TestLake::rename(signed_path("flat/e/f", "racwdlmeop"), "flat/new"), "201"},
      {one, TestLake::remove("flat/d/a"), kBeyond},
      {one, TestLake::remove("flat/e/f"), "200"},
      {all, TestLake::rename("flat/d/a", "flat/new"), "201"},
      {all, TestLake::rename("other/d", "flat/new"), kBeyond},
      {service_sas("w", auth::Scope::kContainer), TestLake::rename("flat/d", "flat/new"), kRefused},
      {account_sas("cwd"), TestLake::rename("other/d", "flat/new"), "201"},
  };
  for (const auto& given : cases) {
    Lake lake;
    lake.around.context.settings = service::SettingsTable();
    for (const char* name : {"flat", "other"})
      ASSERT_EQ(lake.send({"PUT", name, "restype=container"}).status, 201);
    for (const char* file : {"flat/d/a/1", "flat/e/f", "other/d/1"}) lake.write(file);
    Caller caller = given.caller;
    if (!caller.container.empty()) caller.container = "flat";
    const auto& headers = given.request.headers;
    EXPECT_EQ(lake.as(caller, given.request).outcome(), given.outcome)
        << given.request.path << (headers.empty() ? "" : headers[0].second);
  }
}

// Who may only make what is new replaces nothing.
TEST(Scopes, RenamingOverWhatIsThereTakesWriting) {
  constexpr const char* kTaken = "403 UnauthorizedBlobOverwrite";
  constexpr auto kAll = auth::Scope::kContainer;
  const struct {
    const char* name;
    Caller caller;
    const char* from;
    const char* to;
    const char* outcome;
  } cases[] = {
      {"m", service_sas("m", kAll), "f", "new", "201"},
      {"m", service_sas("m", kAll), "f", "g", kTaken},
      {"cm", service_sas("cm", kAll), "f", "g", kTaken},
      {"m", service_sas("m", kAll), "d", "empty", kTaken},
      {"m", service_sas("m", kAll), "f", "f", "201"},
      {"wm", service_sas("wm", kAll), "f", "g", "201"},
      {"wd", service_sas("wd", kAll), "f", "g", "201"},
      {"wd", service_sas("wd", kAll), "d", "empty", "201"},
      {"token", bearer("ann", Role::kContributor), "f", "g", "201"},
      {"delegated cdm", delegated("key", "cdm", Role::kOwner, false), "f", "g", kTaken},
  };
  for (const bool flat : {false, true}) {
    for (const auto& given : cases) {
      Lake lake;
      const std::string at = flat ? "flat/" : "lake/";
      if (flat) {
        if (*given.from == *given.to) continue;
        lake.around.context.settings = service::SettingsTable();
        ASSERT_EQ(lake.send({"PUT", "flat", "restype=container"}).status, 201);
      }
      lake.write(at + "d/1");
      lake.make(at + "empty");
      lake.write(at + "f");
      lake.write(at + "g");
      const auto moved = lake.as(given.caller, TestLake::rename(at + given.from, at + given.to));
      EXPECT_EQ(moved.outcome(), given.outcome) << given.name << " " << at << given.to;
      EXPECT_EQ(lake.send({"HEAD", at + "g"}).outcome(), "200");
    }
  }
}

// To make a directory again is no way around Set Access Control.
TEST(Scopes, LettersToSetAccessOfADirectoryThatIsMadeAgain) {
  constexpr auto kAll = auth::Scope::kContainer;
  const TestLake::Headers permissions{{"x-ms-permissions", "0777"}};
  const TestLake::Headers list{{"x-ms-acl", "user::rwx,group::rwx,other::rwx"}};
  const TestLake::Headers owner{{"x-ms-owner", "bob"}};
  const TestLake::Headers group{{"x-ms-group", "team"}};
  const struct {
    const char* name;
    Caller caller;
    TestLake::Headers headers;
    const char* outcome;
  } cases[] = {
      {"w", service_sas("w", kAll), {}, "201"},
      {"w", service_sas("w", kAll), permissions, kRefused},
      {"w", service_sas("w", kAll), list, kRefused},
      {"w", service_sas("w", kAll), owner, kRefused},
      {"w", service_sas("w", kAll), group, kRefused},
      {"wp", service_sas("wp", kAll), permissions, "201"},
      {"wp", service_sas("wp", kAll), list, "201"},
      {"wp", service_sas("wp", kAll), owner, kRefused},
      {"wo", service_sas("wo", kAll), owner, "201"},
      {"wo", service_sas("wo", kAll), group, "201"},
      {"wo", service_sas("wo", kAll), list, kRefused},
      {"account w", account_sas("w"), list, kRefused},
      {"account wp", account_sas("wp"), list, "201"},
      {"key", TestLake::owner(), owner, "201"},
      {"token", bearer("ann", Role::kOwner), list, "201"},
      {"token", bearer("ann", Role::kContributor), list, kRefused},
  };
  for (const auto& given : cases) {
    SCOPED_TRACE(given.name + (given.headers.empty() ? "" : " " + given.headers[0].first));
    Lake lake;
    lake.make("lake/d");
    lake.set("lake/d", {{"x-ms-owner", "carl"}, {"x-ms-group", "carls"}});
    const std::string acl = lake.acl("lake/d");
    Request again = TestLake::make_directory("lake/d");
    again.headers = given.headers;
    EXPECT_EQ(lake.as(given.caller, again).outcome(), given.outcome);
    const bool set = given.outcome == std::string("201") && !given.headers.empty();
    const auto is = [&](const TestLake::Headers& which) { return set && given.headers == which; };
    const auto now = lake.send({"HEAD", "lake/d", "action=getAccessControl"});
    EXPECT_EQ(now.header("x-ms-owner"), is(owner) ? "bob" : "carl");
    EXPECT_EQ(now.header("x-ms-group"), is(group) ? "team" : "carls");
    if (is(permissions)) {
      EXPECT_EQ(now.header("x-ms-acl"), "user::rwx,group::r-x,other::---");  // Less the umask.
    } else {
      EXPECT_EQ(now.header("x-ms-acl"), is(list) ? list[0].second : acl);
    }
    // What is new takes no letters.
    again.path = "lake/new";
    if (given.caller.kind == Caller::Kind::kServiceSas) {
      EXPECT_EQ(lake.as(given.caller, again).outcome(), "201");
    }
  }
}

// Who is vouched for keeps to the sticky bit in all of a tree.
TEST(Scopes, TreesWithTheStickyBitInside) {
  const auto vouched = [](const char* letters) {
    return delegated("ann", letters, Role::kOwner, true);
  };
  Lake lake;
  lake.make("lake/d/a");
  lake.write("lake/d/a/his");
  lake.set("lake/d/a/his", {{"x-ms-owner", "bob"}});
  lake.set("lake/d/a", {{"x-ms-owner", "carl"}, {"x-ms-permissions", "1777"}});
  lake.set("lake/d", {{"x-ms-owner", "ann"}});
  const Request remove = TestLake::remove("lake/d");
  EXPECT_EQ(lake.as(vouched("racwdlmep"), remove).outcome(), kRefused);
  EXPECT_EQ(lake.tree(), "d/ d/a/ d/a/his ");
  lake.set("lake/d/a/his", {{"x-ms-owner", "ann"}});
  EXPECT_EQ(lake.as(vouched("racwdlmep"), remove).outcome(), "200");
  lake.make("lake/d/a");
  lake.write("lake/d/a/his");
  lake.set("lake/d/a", {{"x-ms-owner", "carl"}, {"x-ms-permissions", "1777"}});
  EXPECT_EQ(lake.as(vouched("racwdlmeop"), remove).outcome(), "200");
}

}  // namespace
}  // namespace kyanite::datalake
