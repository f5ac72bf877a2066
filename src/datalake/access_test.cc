// Access control of paths through both APIs: every operation that it decides, with and without the
// rights that it takes.
#include "auth/posix_access.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "blob/operations.h"
#include "datalake/listing.h"
#include "datalake/operations.h"
#include "datalake/test_access.h"

namespace kyanite::datalake {
namespace {

using auth::posix::Act;
using Request = TestLake::Request;

// One request for each operation that access control decides, on lake/d/f unless it is of the root
// or of what is not there yet.
const std::map<std::string_view, Request>& samples() {
  const TestLake::Headers block{{"x-ms-blob-type", "BlockBlob"}};
  const TestLake::Headers acl{{"x-ms-acl", "user::rwx,group::r-x,other::---"}};
  const TestLake::Headers lease{{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "-1"}};
  const TestLake::Headers breaks{{"x-ms-lease-action", "break"}};
  const std::string source = "http://127.0.0.1:10000/account/lake/open";
  const TestLake::Headers copy{{"x-ms-copy-source", source}};
  static const std::map<std::string_view, Request> all = {
      {"Container_ListBlobs", {"GET", "lake", "restype=container&comp=list&prefix=d/"}},
      {"Blob_Download", {"GET", "lake/d/f"}},
      {"Blob_GetProperties", {"HEAD", "lake/d/f"}},
      {"Blob_GetMetadata", {"GET", "lake/d/f", "comp=metadata"}},
      {"Blob_GetMetadataWithHead", {"HEAD", "lake/d/f", "comp=metadata"}},
      {"Blob_SetHttpHeaders", {"PUT", "lake/d/f", "comp=properties"}},
      {"Blob_SetMetadata", {"PUT", "lake/d/f", "comp=metadata", {{"x-ms-meta-a", "1"}}}},
      {"Blob_BreakLease", {"PUT", "lake/d/f", "comp=lease", breaks}},
      {"Blob_Lease", {"PUT", "lake/d/f", "comp=lease", lease}},
      {"Blob_Delete", {"DELETE", "lake/d/f"}},
      {"Blob_Undelete", {"PUT", "lake/d/gone", "comp=undelete"}},
      {"Blob_SetExpiry",
       {"PUT", "lake/d/f", "comp=expiry", {{"x-ms-expiry-option", "NeverExpire"}}}},
      {"Blob_CreateSnapshot", {"PUT", "lake/d/f", "comp=snapshot"}},
      {"Blob_SetTier", {"PUT", "lake/d/f", "comp=tier", {{"x-ms-access-tier", "Cool"}}}},
      {"Blob_Query",
       {"POST",
        "lake/d/f",
        "comp=query",
        {},
        "<QueryRequest><QueryType>SQL</QueryType><Expression>SELECT * FROM BlobStorage"
        "</Expression></QueryRequest>"}},
      {"Blob_AbortCopyFromURL",
       {"PUT", "lake/d/f", "comp=copy&copyid=x", {{"x-ms-copy-action", "abort"}}}},
      {"BlockBlob_StageBlockFromURL", {"PUT", "lake/d/f", "comp=block&blockid=AA==", copy}},
      {"BlockBlob_StageBlock", {"PUT", "lake/d/f", "comp=block&blockid=AA==", {}, "x"}},
      {"BlockBlob_CommitBlockList",
       {"PUT", "lake/d/f", "comp=blocklist", {}, "<BlockList></BlockList>"}},
      {"BlockBlob_GetBlockList", {"GET", "lake/d/f", "comp=blocklist"}},
      {"AppendBlob_AppendBlockFromUrl", {"PUT", "lake/d/f", "comp=appendblock", copy}},
      {"AppendBlob_AppendBlock", {"PUT", "lake/d/f", "comp=appendblock", {}, "x"}},
      {"AppendBlob_Seal", {"PUT", "lake/d/f", "comp=seal"}},
      {"PageBlob_UploadPagesFromURL",
       {"PUT",
        "lake/d/f",
        "comp=page",
        {{"x-ms-copy-source", source},
         {"x-ms-page-write", "update"},
         {"x-ms-range", "bytes=0-511"},
         {"x-ms-source-range", "bytes=0-511"}}}},
      {"PageBlob_ClearPages",
       {"PUT",
        "lake/d/f",
        "comp=page",
        {{"x-ms-page-write", "clear"}, {"x-ms-range", "bytes=0-511"}}}},
      {"PageBlob_UploadPages",
       {"PUT",
        "lake/d/f",
        "comp=page",
        {{"x-ms-page-write", "update"}, {"x-ms-range", "bytes=0-511"}},
        std::string(512, 'x')}},
      {"PageBlob_GetPageRanges", {"GET", "lake/d/f", "comp=pagelist"}},
      {"PageBlob_CopyIncremental",
       {"PUT", "lake/d/f", "comp=incrementalcopy", {{"x-ms-copy-source", source + "?snapshot=x"}}}},
      {"BlockBlob_PutBlobFromUrl",
       {"PUT", "lake/d/f", "", {{"x-ms-blob-type", "BlockBlob"}, {"x-ms-copy-source", source}}}},
      {"Blob_CopyFromURL",
       {"PUT", "lake/d/f", "", {{"x-ms-copy-source", source}, {"x-ms-requires-sync", "true"}}}},
      {"Blob_StartCopyFromURL", {"PUT", "lake/d/f", "", copy}},
      {"PageBlob_Create",
       {"PUT",
        "lake/d/f",
        "",
        {{"x-ms-blob-type", "PageBlob"}, {"x-ms-blob-content-length", "512"}}}},
      {"AppendBlob_Create", {"PUT", "lake/d/f", "", {{"x-ms-blob-type", "AppendBlob"}}}},
      {"BlockBlob_Upload", {"PUT", "lake/d/new", "", block, "x"}},

      {"FileSystem_ListPaths", {"GET", "lake", "resource=filesystem&recursive=false&directory=d"}},
      {"Path_SetRootAccessControl", {"PATCH", "lake/", "action=setAccessControl", acl}},
      {"Path_SetRootAccessControlRecursive",
       {"PATCH", "lake/", "action=setAccessControlRecursive&mode=set", acl}},
      {"Path_SetRootProperties", {"PATCH", "lake/", "action=setProperties"}},
      {"Path_GetRootAccessControl", {"HEAD", "lake/", "action=getAccessControl"}},
      {"Path_GetRootStatus", {"HEAD", "lake/", "action=getStatus"}},
      {"Path_CheckRootAccess", {"HEAD", "lake/", "action=checkAccess&fsAction=---"}},
      {"Path_GetRootProperties", {"HEAD", "lake/", "", {{"Accept", "application/json"}}}},
      {"Path_RenameIntoRoot", {"PUT", "lake/", "", {{"x-ms-rename-source", "/lake/d/f"}}}},
      {"Path_Rename", {"PUT", "lake/d/new", "", {{"x-ms-rename-source", "/lake/open"}}}},
      {"Path_Create", {"PUT", "lake/d/new", "resource=file"}},
      {"Path_AppendData", {"PATCH", "lake/d/f", "action=append&position=7", {}, "x"}},
      {"Path_FlushData", {"PATCH", "lake/d/f", "action=flush&position=7"}},
      {"Path_SetProperties", {"PATCH", "lake/d/f", "action=setProperties"}},
      {"Path_SetAccessControl", {"PATCH", "lake/d/f", "action=setAccessControl", acl}},
      {"Path_SetAccessControlRecursive",
       {"PATCH", "lake/d/f", "action=setAccessControlRecursive&mode=set", acl}},
      {"Path_BreakLease", {"POST", "lake/d/f", "", breaks}},
      {"Path_Lease", {"POST", "lake/d/f", "", lease}},
      {"Path_Read", {"GET", "lake/d/f", "", {{"Accept", "application/json"}}}},
      {"Path_GetAccessControl", {"HEAD", "lake/d/f", "action=getAccessControl"}},
      {"Path_GetStatus", {"HEAD", "lake/d/f", "action=getStatus"}},
      {"Path_CheckAccess", {"HEAD", "lake/d/f", "action=checkAccess&fsAction=---"}},
      {"Path_GetProperties", {"HEAD", "lake/d/f", "", {{"Accept", "application/json"}}}},
      {"Path_Delete", {"DELETE", "lake/d/f", "recursive=false"}},
  };
  return all;
}

// What an act takes on d and on f besides passing through the root.
struct Rights {
  const char* on_directory;
  const char* on_file;
  bool owns = false;
};
Rights rights_for(Act act) {
  switch (act) {
    case Act::kLook:
      return {"--x", "---"};
    case Act::kReadFile:
      return {"--x", "r--"};
    case Act::kWriteFile:
      return {"--x", "rw-"};
    case Act::kListDirectory:
      return {"r-x", "---"};
    case Act::kCreate:
    case Act::kDelete:
    case Act::kDeleteTree:
      return {"-wx", "---"};
    case Act::kSetAccess:
      break;
  }
  return {"--x", "---", true};
}

class Decided : public testing::Test {
 protected:
  // A lake in which ann has these rights.
  static void arrange(Lake& lake, const Rights& rights, const std::string& on_root = "--x") {
    lake.make("lake/d");
    lake.write("lake/d/f");
    lake.write("lake/open");
    lake.grant("lake/open", "rw-");
    lake.grant("lake/d/f", rights.on_file);
    lake.grant("lake/d", rights.on_directory);
    if (rights.owns) lake.set("lake/d/f", {{"x-ms-owner", "ann"}});
    lake.grant("lake/", on_root);
  }
  static std::string outcome(const Rights& rights, const Request& request,
                             const std::string& on_root = "--x") {
    Lake lake;
    arrange(lake, rights, on_root);
    return lake.as(bearer("ann"), request).outcome();
  }
  static std::string outcome_for(const Caller& caller, const Request& request) {
    Lake lake;
    arrange(lake, {"---", "---"}, "---");
    return lake.as(caller, request).outcome();
  }
  static std::vector<const service::Operation*> decided() {
    std::vector<const service::Operation*> all;
    for (const auto operations : {blob::operations(), datalake::operations()}) {
      for (const auto& operation : operations) {
        if (operation.need.act) all.push_back(&operation);
      }
    }
    return all;
  }
};

TEST_F(Decided, EveryOperationIsAskedAbout) {
  for (const auto* operation : decided()) {
    SCOPED_TRACE(std::string(operation->id));
    const auto sample = samples().find(operation->id);
    ASSERT_NE(sample, samples().end());
    const Request& request = sample->second;
    const std::string unhindered = outcome_for(TestLake::owner(), request);
    // What makes no sense here is refused to everybody alike; it must not be done by anybody.
    const bool refused_anyway = unhindered[0] == '4' && unhindered != kRefused;
    const bool of_root =
        operation->level == auth::Level::kContainer && *operation->need.act != Act::kListDirectory;
    if (of_root) {
      // Nothing leads to the root; to look at it takes no rights.
      const bool looks = *operation->need.act == Act::kLook;
      EXPECT_EQ(outcome({"---", "---"}, request, "---"),
                looks || refused_anyway ? unhindered : kRefused);
      const bool writes = *operation->need.act == Act::kWriteFile;
      if (writes) {
        EXPECT_EQ(outcome({"---", "---"}, request, "rw-"), unhindered);
      }
      continue;
    }
    const Rights enough = rights_for(*operation->need.act);
    const auto expect_refused = [&](const std::string& got) {
      if (!refused_anyway || got != unhindered) {
        EXPECT_EQ(got, kRefused);
      }
    };
    expect_refused(outcome({"---", "---"}, request, "---"));
    expect_refused(outcome({enough.on_directory, enough.on_file, enough.owns}, request, "---"));
    expect_refused(outcome({"---", "rwx", true}, request));
    if (*operation->need.act != Act::kLook)
      expect_refused(
          outcome({"--x", *operation->need.act == Act::kSetAccess ? "rwx" : "---"}, request));
    // A rename takes something away as well.
    const bool renames = operation->id == "Path_Rename";
    EXPECT_EQ(outcome(enough, request, renames ? "-wx" : "--x"), unhindered);
  }
}

TEST_F(Decided, RolesThatAreEnoughNeedNoRights) {
  for (const auto* operation : decided()) {
    SCOPED_TRACE(std::string(operation->id));
    const Request& request = samples().at(operation->id);
    const std::string unhindered = outcome_for(TestLake::owner(), request);
    EXPECT_EQ(outcome_for(bearer("ann", operation->need.role), request), unhindered);
    EXPECT_EQ(outcome_for(bearer("ann", Role::kOwner), request), unhindered);
    // A SAS reads no source of a copy but its own.
    EXPECT_NE(outcome_for(delegated("ann", "racwdlmeop", Role::kOwner, false), request), kRefused);
  }
}

TEST_F(Decided, FlatContainersKnowRolesOnly) {
  for (const auto* operation : decided()) {
    SCOPED_TRACE(std::string(operation->id));
    TestLake lake;
    lake.around.context.settings = service::SettingsTable();
    ASSERT_EQ(lake.send({"PUT", "flat", "restype=container"}).status, 201);
    ASSERT_EQ(lake.send(TestLake::put("flat/d/f", "content")).status, 201);
    Request request = samples().at(operation->id);
    request.path.replace(0, 4, "flat");
    request.caller = bearer("ann");
    EXPECT_EQ(lake.send(request).outcome(), kRefused);
    // Users are named for access control, which is not there.
    request.caller = delegated("ann", "racwdlmeop", Role::kOwner, true);
    EXPECT_EQ(lake.send(request).outcome(), kRefused);
  }
}

TEST(Admission, WhereNothingIsToldToWhoMayPass) {
  Lake lake;
  lake.make("lake/d");
  lake.grant("lake/", "--x");
  EXPECT_EQ(lake.as(bearer("ann"), {"GET", "lake/d/none"}).outcome(), kRefused);
  EXPECT_EQ(lake.as(bearer("ann"), {"GET", "lake/d/none/none"}).outcome(), kRefused);
  EXPECT_EQ(lake.as(bearer("ann"), {"GET", "lake/none"}).outcome(), "404 BlobNotFound");
  lake.grant("lake/d", "--x");
  EXPECT_EQ(lake.as(bearer("ann"), {"GET", "lake/d/none"}).outcome(), "404 BlobNotFound");
}

TEST(Admission, MissingDirectoriesAreMadeWhereTheLastOneMayBeWritten) {
  Lake lake;
  lake.make("lake/d");
  lake.grant("lake/", "--x");
  lake.grant("lake/d", "r-x");
  EXPECT_EQ(lake.as(bearer("ann"), TestLake::put("lake/d/a/b/c", "x")).outcome(), kRefused);
  lake.grant("lake/d", "-wx");
  EXPECT_EQ(lake.as(bearer("ann"), TestLake::put("lake/d/a/b/c", "x")).outcome(), "201");
  EXPECT_EQ(lake.owner_of("lake/d/a"), "ann");
  EXPECT_EQ(lake.owner_of("lake/d/a/b/c"), "ann");
}

TEST(Admission, ByGroupsOfTheToken) {
  Lake lake;
  lake.write("lake/f");
  lake.set("lake/", {{"x-ms-acl", "user::rwx,group::---,other::---,group:team:--x"}});
  lake.set("lake/f", {{"x-ms-acl", "user::rwx,group::---,other::---,group:team:r--"}});
  EXPECT_EQ(lake.as(bearer("ann"), {"GET", "lake/f"}).outcome(), kRefused);
  EXPECT_EQ(lake.as(bearer("ann", Role::kNone, {"team"}), {"GET", "lake/f"}).outcome(), "200");
}

TEST(Admission, SourcesOfCopiesAreRead) {
  Lake lake;
  lake.write("lake/secret");
  lake.grant("lake/secret", "---");
  lake.grant("lake/", "-wx");
  const auto copy = [&](const char* from, bool at_once) {
    TestLake::Headers headers{
        {"x-ms-copy-source", std::string("http://127.0.0.1:10000/account/lake/") + from}};
    if (at_once) headers.emplace_back("x-ms-requires-sync", "true");
    return lake.as(bearer("ann"), {"PUT", "lake/copy", "", headers}).status;
  };
  EXPECT_EQ(copy("secret", false), 403);
  lake.grant("lake/secret", "r--");
  EXPECT_EQ(copy("secret", false), 202);
}

TEST(Admission, SnapshotsAreAsTheirFileIs) {
  Lake lake;
  lake.write("lake/f");
  lake.grant("lake/", "--x");
  const auto snapshot = lake.send({"PUT", "lake/f", "comp=snapshot"}).header("x-ms-snapshot");
  const Request read{"GET", "lake/f", "snapshot=" + snapshot};
  EXPECT_EQ(lake.as(bearer("ann"), read).outcome(), kRefused);
  lake.grant("lake/f", "r--");
  EXPECT_EQ(lake.as(bearer("ann"), read).outcome(), "200");
}

// A file in the place of another is not a way to what was kept of that one.
TEST(Admission, SnapshotsOfTheFileBeforeStayWithItsOwner) {
  Lake lake;
  lake.write("lake/f");
  lake.grant("lake/f", "r--", "bob");
  lake.set("lake/", {{"x-ms-permissions", "0777"}});
  const auto snapshot = lake.send({"PUT", "lake/f", "comp=snapshot"}).header("x-ms-snapshot");
  ASSERT_EQ(lake.as(bearer("ann"), TestLake::make_file("lake/f")).outcome(), "201");
  ASSERT_EQ(lake.owner_of("lake/f"), "ann");
  const Request read{"GET", "lake/f", "snapshot=" + snapshot};
  const Request tier{
      "PUT", "lake/f", "comp=tier&snapshot=" + snapshot, {{"x-ms-access-tier", "Cool"}}};
  EXPECT_EQ(lake.as(bearer("ann"), {"GET", "lake/f"}).outcome(), "200");
  EXPECT_EQ(lake.as(bearer("ann"), read).outcome(), kRefused);
  EXPECT_EQ(lake.as(bearer("ann"), tier).outcome(), kRefused);
  const std::string source = "http://127.0.0.1:10000/account/lake/f?snapshot=" + snapshot;
  EXPECT_EQ(lake.as(bearer("ann"), {"PUT", "lake/copy", "", {{"x-ms-copy-source", source}}}).status,
            403);
  EXPECT_EQ(lake.as(bearer("bob"), read).body, "content");
  EXPECT_EQ(lake.as(bearer("bob"), {"GET", "lake/f"}).outcome(), kRefused);
  // A blob that is put there is the same file with another content.
  const auto second = lake.send({"PUT", "lake/f", "comp=snapshot"}).header("x-ms-snapshot");
  ASSERT_EQ(lake.send(TestLake::put("lake/f", "other")).outcome(), "201");
  EXPECT_EQ(lake.as(bearer("ann"), {"GET", "lake/f", "snapshot=" + second}).outcome(), "200");
  EXPECT_EQ(
      lake.as(bearer("ann"), {"GET", "lake/f", "snapshot=2020-01-01T00:00:00.0000000Z"}).outcome(),
      "404 BlobNotFound");
}

TEST(Admission, BlocksThatWaitTakeWhatMakingTheBlobTakes) {
  Lake lake;
  ASSERT_EQ(lake.send({"PUT", "lake/b", "comp=block&blockid=AA==", {}, "x"}).status, 201);
  lake.grant("lake/", "r-x");
  const Request list{"GET", "lake/b", "comp=blocklist&blocklisttype=all"};
  const Request lease{"PUT",
                      "lake/b",
                      "comp=lease",
                      {{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "-1"}}};
  EXPECT_EQ(lake.as(bearer("ann"), list).outcome(), kRefused);
  EXPECT_EQ(lake.as(bearer("ann"), lease).outcome(), kRefused);
  lake.grant("lake/", "-wx");
  EXPECT_EQ(lake.as(bearer("ann"), list).outcome(), "200");
  EXPECT_EQ(lake.as(bearer("ann"), lease).outcome(), "201");
}

TEST(Admission, ListingsEnterNoDirectoryThatMustNotBeListed) {
  Lake lake;
  lake.make("lake/a");
  lake.make("lake/b");
  lake.make("lake/c");
  for (const char* file : {"lake/a/1", "lake/b/secret", "lake/c/3"}) lake.write(file);
  lake.grant("lake/", "r-x");
  lake.grant("lake/a", "r-x");
  lake.grant("lake/b", "r--");
  lake.grant("lake/c", "r-x");
  const Caller ann = bearer("ann");
  const auto paths = [&](const std::string& more) {
    return lake.as(ann, {"GET", "lake", "resource=filesystem&" + more});
  };
  EXPECT_EQ(paths("recursive=false").outcome(), "200");
  EXPECT_EQ(paths("recursive=false&directory=a").outcome(), "200");
  EXPECT_EQ(paths("recursive=false&directory=b").outcome(), kRefused);
  EXPECT_EQ(paths("recursive=true").outcome(), kRefused);
  EXPECT_EQ(paths("recursive=true&directory=a").outcome(), "200");
  // Nor by what looks like the middle of a listing.
  EXPECT_EQ(paths("recursive=true&continuation=" + wire::percent_encode(continuation_of("b/a")))
                .outcome(),
            kRefused);
  EXPECT_EQ(paths("recursive=true&continuation=" + wire::percent_encode(continuation_of("c/a")))
                .outcome(),
            "200");

  const auto blobs = [&](const std::string& more) {
    return lake.as(ann, {"GET", "lake", "restype=container&comp=list" + more});
  };
  EXPECT_EQ(blobs("&delimiter=/").outcome(), "200");
  EXPECT_EQ(blobs("&prefix=b/").outcome(), kRefused);
  EXPECT_EQ(blobs("&prefix=a/").outcome(), "200");
  // A page ends before it, and the next one is refused.
  const auto first = blobs("");
  EXPECT_EQ(first.outcome(), "200");
  EXPECT_NE(first.body.find("<Name>b</Name>"), std::string::npos);
  EXPECT_EQ(first.body.find("secret"), std::string::npos);
  const std::string open = "<NextMarker>";
  const size_t at = first.body.find(open) + open.size();
  const std::string marker = first.body.substr(at, first.body.find('<', at) - at);
  ASSERT_FALSE(marker.empty());
  EXPECT_EQ(blobs("&marker=" + wire::percent_encode(marker)).outcome(), kRefused);
  EXPECT_EQ(blobs("&startFrom=b/a").outcome(), kRefused);
  EXPECT_EQ(blobs("&startFrom=c/a").outcome(), "200");
  EXPECT_EQ(blobs("&showonly=deleted").outcome(), kRefused);
}

TEST(Admission, DeletingATreeTakesAllRightsInside) {
  Lake lake;
  for (const char* directory : {"lake/d", "lake/d/a", "lake/d/a/b"}) lake.make(directory);
  lake.write("lake/d/a/b/f");
  lake.grant("lake/", "-wx");
  const Request remove = TestLake::remove("lake/d");
  const auto attempt = [&] { return lake.as(bearer("ann"), remove).outcome(); };
  lake.grant("lake/d", "-wx");
  lake.grant("lake/d/a", "rwx");
  lake.grant("lake/d/a/b", "rwx");
  EXPECT_EQ(attempt(), kRefused);
  lake.grant("lake/d", "rwx");
  lake.grant("lake/d/a/b", "r-x");
  EXPECT_EQ(attempt(), kRefused);
  EXPECT_EQ(lake.tree(), "d/ d/a/ d/a/b/ d/a/b/f ");
  lake.grant("lake/d/a/b", "rwx");
  lake.set("lake/d/a/b", {{"x-ms-permissions", "1777"}});
  // Everything inside is another's, and the sticky bit keeps it so.
  EXPECT_EQ(attempt(), kRefused);
  lake.set("lake/d/a/b", {{"x-ms-owner", "ann"}});
  EXPECT_EQ(attempt(), "200");
  EXPECT_EQ(lake.tree(), "");
}

TEST(Admission, TheStickyBitKeepsWhatIsAnothers) {
  Lake lake;
  lake.make("lake/d");
  lake.make("lake/e");
  for (const char* file : {"lake/d/hers", "lake/d/his"}) lake.write(file);
  lake.set("lake/d/hers", {{"x-ms-owner", "ann"}});
  lake.set("lake/d/his", {{"x-ms-owner", "bob"}});
  for (const char* directory : {"lake/", "lake/e"})
    lake.set(directory, {{"x-ms-permissions", "0777"}});
  lake.set("lake/d", {{"x-ms-permissions", "1777"}});
  const Caller ann = bearer("ann");
  EXPECT_EQ(lake.as(ann, TestLake::remove("lake/d/his")).outcome(), kRefused);
  EXPECT_EQ(lake.as(ann, {"DELETE", "lake/d/his"}).outcome(), kRefused);
  EXPECT_EQ(lake.as(ann, TestLake::rename("lake/d/his", "lake/e/his")).outcome(), kRefused);
  EXPECT_EQ(lake.as(ann, TestLake::put("lake/d/his", "mine")).outcome(), kRefused);
  EXPECT_EQ(lake.as(ann, TestLake::rename("lake/d/hers", "lake/d/his")).outcome(), kRefused);
  EXPECT_EQ(lake.as(ann, TestLake::rename("lake/d/hers", "lake/e/hers")).outcome(), "201");
  lake.set("lake/d", {{"x-ms-owner", "ann"}});
  EXPECT_EQ(lake.as(ann, TestLake::remove("lake/d/his")).outcome(), "200");
  // One who is vouched for is held to it as well, unless the SAS makes it an owner.
  lake.write("lake/d/another");
  lake.set("lake/d", {{"x-ms-owner", "carl"}});
  const auto vouched = [](const char* letters) {
    return delegated("ann", letters, Role::kOwner, true);
  };
  EXPECT_EQ(lake.as(vouched("racwdlmep"), TestLake::remove("lake/d/another")).outcome(), kRefused);
  EXPECT_EQ(lake.as(vouched("racwdlmeop"), TestLake::remove("lake/d/another")).outcome(), "200");
}

TEST(Admission, RenamingTakesBothDirectories) {
  Lake lake;
  for (const char* directory : {"lake/a", "lake/b"}) lake.make(directory);
  lake.write("lake/a/f");
  lake.grant("lake/", "--x");
  const Request move = TestLake::rename("lake/a/f", "lake/b/f");
  const std::pair<const char*, const char*> too_little[] = {
      {"--x", "-wx"}, {"-wx", "--x"}, {"-w-", "-wx"}, {"-wx", "-w-"}, {"---", "---"}};
  for (const auto& [from, to] : too_little) {
    lake.grant("lake/a", from);
    lake.grant("lake/b", to);
    EXPECT_EQ(lake.as(bearer("ann"), move).outcome(), kRefused) << from << " " << to;
  }
  lake.grant("lake/a", "-wx");
  lake.grant("lake/b", "-wx");
  EXPECT_EQ(lake.as(bearer("ann"), move).outcome(), "201");
}

TEST(Admission, WhoMakesADirectoryAgainDoesNotTakeIt) {
  Lake lake;
  lake.make("lake/d");
  lake.grant("lake/", "-wx");
  lake.grant("lake/d", "---");
  const std::string before = lake.acl("lake/d");
  Request again = TestLake::make_directory("lake/d");
  EXPECT_EQ(lake.as(bearer("ann"), again).outcome(), "201");
  EXPECT_EQ(lake.owner_of("lake/d"), "$superuser");
  EXPECT_EQ(lake.acl("lake/d"), before);
  again.headers = {{"x-ms-permissions", "0777"}};
  EXPECT_EQ(lake.as(bearer("ann"), again).outcome(), kRefused);
  EXPECT_EQ(lake.acl("lake/d"), before);
}

TEST(Admission, NewPathsAreNobodyElses) {
  Lake lake;
  lake.grant("lake/", "-wx");
  Request file = TestLake::make_file("lake/f");
  file.headers = {{"x-ms-owner", "bob"}};
  EXPECT_EQ(lake.as(bearer("ann"), file).outcome(), kRefused);
  file.headers = {{"x-ms-group", "team"}};
  EXPECT_EQ(lake.as(bearer("ann"), file).outcome(), kRefused);
  EXPECT_EQ(lake.as(bearer("ann", Role::kNone, {"team"}), file).outcome(), "201");
  file.headers = {{"x-ms-owner", "ann"}, {"x-ms-acl", "user::rwx,group::---,other::r--"}};
  EXPECT_EQ(lake.as(bearer("ann"), file).outcome(), "201");
  EXPECT_EQ(lake.acl("lake/f"), "user::rwx,group::---,other::r--");
}

// Who sets owner, group, permissions and lists.
TEST(SetAccessControl, ByWhom) {
  const Caller ann = bearer("ann", Role::kNone, {"team"});
  const struct {
    const char* name;
    Caller caller;
    TestLake::Headers headers;
    bool allowed;
  } cases[] = {
      {"owner", ann, {{"x-ms-permissions", "0700"}}, true},
      {"owner", ann, {{"x-ms-acl", "user::rwx,group::---,other::---"}}, true},
      {"owner", ann, {{"x-ms-group", "team"}}, true},
      {"owner, not a member", ann, {{"x-ms-group", "others"}}, false},
      {"owner", ann, {{"x-ms-owner", "bob"}}, false},
      {"owner, the same", ann, {{"x-ms-owner", "ANN"}}, true},
      {"stranger", bearer("bob"), {{"x-ms-permissions", "0700"}}, false},
      {"reader", bearer("bob", Role::kReader), {{"x-ms-permissions", "0700"}}, false},
      {"contributor", bearer("bob", Role::kContributor), {{"x-ms-permissions", "0700"}}, false},
      {"owner by role", bearer("bob", Role::kOwner), {{"x-ms-owner", "bob"}}, true},
      {"p", delegated("key", "p", Role::kOwner, false), {{"x-ms-permissions", "0700"}}, true},
      {"p", delegated("key", "p", Role::kOwner, false), {{"x-ms-owner", "bob"}}, false},
      {"p", delegated("key", "p", Role::kOwner, false), {{"x-ms-group", "team"}}, false},
      {"o", delegated("key", "o", Role::kOwner, false), {{"x-ms-owner", "bob"}}, true},
      {"o", delegated("key", "o", Role::kOwner, false), {{"x-ms-group", "team"}}, true},
      {"o", delegated("key", "o", Role::kOwner, false), {{"x-ms-permissions", "0700"}}, false},
      {"e", delegated("key", "e", Role::kOwner, false), {{"x-ms-permissions", "0700"}}, false},
      {"e, saoid", delegated("ann", "e", Role::kOwner, true), {{"x-ms-permissions", "0700"}}, true},
      {"e, saoid", delegated("ann", "e", Role::kOwner, true), {{"x-ms-group", "team"}}, true},
      {"e, saoid", delegated("ann", "e", Role::kOwner, true), {{"x-ms-owner", "bob"}}, false},
      {"suoid", delegated("ann", "eop", Role::kNone, true), {{"x-ms-permissions", "0700"}}, true},
      {"suoid", delegated("ann", "eop", Role::kNone, true), {{"x-ms-owner", "bob"}}, false},
      {"suoid", delegated("bob", "eop", Role::kNone, true), {{"x-ms-permissions", "0700"}}, false},
  };
  for (const auto& given : cases) {
    SCOPED_TRACE(given.name + (": " + given.headers[0].first));
    Lake lake;
    lake.write("lake/f");
    lake.set("lake/f", {{"x-ms-owner", "ann"}});
    lake.set("lake/", {{"x-ms-permissions", "0777"}});
    const Request set{"PATCH", "lake/f", "action=setAccessControl", given.headers};
    EXPECT_EQ(lake.as(given.caller, set).outcome(), given.allowed ? "200" : kRefused);
  }
}

TEST(SetAccessControl, WhatIsRefused) {
  const struct {
    TestLake::Headers headers;
    const char* outcome;
  } cases[] = {
      {{{"x-ms-acl", "asdf"}}, "400 InvaldAccessControlList"},
      {{{"x-ms-acl", "user::rwx"}}, "200"},  // The rest is as it was.
      {{{"x-ms-acl", "user::rwx,group::rwx,other::rwx,user::r--"}}, "400 InvaldAccessControlList"},
      {{{"x-ms-acl", "user::rwx,group::rwx,other::rwx,default:user::rwx"}},
       "400 InvaldAccessControlList"},
      {{{"x-ms-acl", ""}}, "200"},
      {{{"x-ms-permissions", "asdf"}}, "400 InvalidPermission"},
      {{{"x-ms-permissions", "0999"}}, "400 InvalidPermission"},
      {{{"x-ms-permissions", "0700"}, {"x-ms-acl", "user::rwx,group::r--,other::---"}},
       "400 InvalidInput"},
      {{{"x-ms-owner", std::string(257, 'a')}}, "400 InvalidHeaderValue"},
      {{{"x-ms-permissions", "0700"}, {"If-Match", "\"0x1\""}}, "412 ConditionNotMet"},
      {{{"x-ms-permissions", "0700"}, {"x-ms-lease-id", "7a7bfe98-cb1b-cb87-a725-27bffba74613"}},
       "412 LeaseNotPresentWithBlobOperation"},
  };
  for (const auto& given : cases) {
    Lake lake;
    lake.write("lake/f");
    const Request set{"PATCH", "lake/f", "action=setAccessControl", given.headers};
    EXPECT_EQ(lake.send(set).outcome(), given.outcome) << given.headers[0].second;
  }
  Lake lake;
  EXPECT_EQ(lake.send({"PATCH", "lake/none", "action=setAccessControl"}).outcome(),
            "404 BlobNotFound");
}

TEST(SetAccessControl, TheETagStays) {
  Lake lake;
  lake.write("lake/f");
  const auto before = lake.send({"HEAD", "lake/f"});
  lake.around.clock.advance_seconds(5);
  const auto set =
      lake.send({"PATCH", "lake/f", "action=setAccessControl", {{"x-ms-permissions", "0700"}}});
  EXPECT_EQ(set.header("ETag"), before.header("ETag"));
  EXPECT_EQ(set.header("Last-Modified"), before.header("Last-Modified"));
  EXPECT_EQ(set.header("x-ms-namespace-enabled"), "true");
  EXPECT_EQ(lake.send({"HEAD", "lake/f"}).header("ETag"), before.header("ETag"));
}

// The root may have no record of its own, and has access control all the same.
TEST(SetAccessControl, OfTheRoot) {
  Lake lake;
  EXPECT_EQ(lake.acl("lake/"), "user::rwx,group::r-x,other::---");
  EXPECT_EQ(lake.owner_of("lake/"), "$superuser");
  lake.set("lake/", {{"x-ms-owner", "ann"}, {"x-ms-permissions", "0711"}});
  EXPECT_EQ(lake.owner_of("lake/"), "ann");
  EXPECT_EQ(lake.acl("lake/"), "user::rwx,group::--x,other::--x");
  Request fresh{"PUT", "other", "restype=container"};
  fresh.caller = bearer("bob", Role::kContributor);
  ASSERT_EQ(lake.send(fresh).status, 201);
  EXPECT_EQ(lake.owner_of("other/"), "bob");
}

TEST(CheckAccess, ByRoleAndByRights) {
  Lake lake;
  lake.make("lake/d");
  lake.grant("lake/d", "r-x");
  const struct {
    const char* name;
    Caller caller;
    const char* on_root;
    const char* bits;
    const char* outcome;
  } cases[] = {
      {"key", TestLake::owner(), "---", "rwx", "200"},
      {"contributor", bearer("bob", Role::kContributor), "---", "rwx", "200"},
      {"reader", bearer("bob", Role::kReader), "---", "r-x", "200"},
      {"reader", bearer("bob", Role::kReader), "---", "-w-", kRefused},
      {"named", bearer("ann"), "--x", "r-x", "200"},
      {"named", bearer("ann"), "--x", "rw-", kRefused},
      {"named", bearer("ann"), "--x", "---", "200"},
      {"named, no way", bearer("ann"), "rw-", "r--", kRefused},
      {"stranger", bearer("bob"), "--x", "r--", kRefused},
      {"not bits", bearer("ann"), "--x", "xwr", "400 InvalidQueryParameterValue"},
  };
  for (const auto& given : cases) {
    lake.grant("lake/", given.on_root);
    const Request check{"HEAD", "lake/d", std::string("action=checkAccess&fsAction=") + given.bits};
    EXPECT_EQ(lake.as(given.caller, check).outcome(), given.outcome)
        << given.name << " " << given.bits;
  }
  EXPECT_EQ(lake.send({"HEAD", "lake/d", "action=checkAccess"}).outcome(),
            "400 MissingRequiredQueryParameter");
}

// What new paths get, as the documentation has it.
TEST(Inheritance, OwnersGroupsListsAndMasks) {
  Lake lake;
  lake.set("lake/", {{"x-ms-group", "team"}});
  lake.make("lake/plain");
  lake.write("lake/plain/f");
  EXPECT_EQ(lake.acl("lake/plain"), "user::rwx,group::r-x,other::---");
  EXPECT_EQ(lake.acl("lake/plain/f"), "user::rw-,group::r--,other::---");
  Request umask = TestLake::make_file("lake/plain/masked");
  umask.headers = {{"x-ms-permissions", "0777"}, {"x-ms-umask", "0057"}};
  EXPECT_EQ(lake.as(bearer("ann", Role::kOwner), umask).outcome(), "201");
  EXPECT_EQ(lake.acl("lake/plain/masked"), "user::rwx,group::-w-,other::---");
  EXPECT_EQ(lake.owner_of("lake/plain/masked"), "ann");
  const auto group =
      lake.send({"HEAD", "lake/plain/masked", "action=getAccessControl"}).header("x-ms-group");
  EXPECT_EQ(group, "team");

  lake.make("lake/giving");
  lake.set("lake/giving", {{"x-ms-acl",
                            "user::rwx,group::r-x,other::---,default:user::rwx,default:group::r-x,"
                            "default:other::rwx,default:user:ann:rw-,default:mask::rwx"}});
  ASSERT_EQ(lake.send(TestLake::put("lake/giving/below/f", "x")).status, 201);
  const std::string list = "user::rwx,user:ann:rw-,group::r-x,mask::rwx,other::---";
  EXPECT_EQ(lake.acl("lake/giving/below/f"), list);
  EXPECT_EQ(lake.acl("lake/giving/below"),
            list +
                ",default:user::rwx,default:user:ann:rw-,default:group::r-x,default:mask::rwx,"
                "default:other::rwx");
}

}  // namespace
}  // namespace kyanite::datalake
