// What replies of the File service carry, and what they leave out.
#include <gtest/gtest.h>

#include "file/records.h"
#include "file/test_support.h"
#include "lifetime/directory.h"
#include "store/fields.h"
#include "wire/xml.h"

namespace kyanite::file {
namespace {

class FileReplies : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(files.make_share("share").outcome(), "201");
    ASSERT_EQ(files.make_directory("share/docs").outcome(), "201");
    ASSERT_EQ(files.make_file("share/docs/a.txt", "5").outcome(), "201");
  }

  // What stands in an element of the body, the first of that name.
  static std::string element(const Answer& answer, const std::string& name) {
    const size_t at = answer.body.find("<" + name + ">");
    if (at == std::string::npos) return "(none)";
    const size_t from = at + name.size() + 2;
    return answer.body.substr(from, answer.body.find('<', from) - from);
  }

  TestService files;
};

TEST_F(FileReplies, HeadersThatAreNotThere) {
  const auto permission = files
                              .send("PUT", "share", "restype=share&comp=filepermission", {},
                                    R"j({"permission":"O:SYG:SYD:(A;;FA;;;SY)"})j")
                              .header("x-ms-file-permission-key");
  ASSERT_FALSE(permission.empty());
  struct Row {
    const char* path;
    const char* query;
    TestService::Headers headers;
    const char* absent;
  };
  const Row rows[] = {
      {"share", "restype=share&comp=stats", {}, "ETag"},
      {"share", "restype=share&comp=stats", {}, "Last-Modified"},
      {"share",
       "restype=share&comp=filepermission",
       {{"x-ms-file-permission-key", permission}},
       "Content-Type"},
      {"share", "restype=directory", {}, "x-ms-file-permission-key"},
  };
  for (const auto& [path, query, headers, absent] : rows) {
    const auto answer = files.send("GET", path, query, headers);
    EXPECT_EQ(answer.status, 200) << query;
    EXPECT_EQ(answer.header(absent), "") << query << " " << absent;
  }
  EXPECT_NE(files.send("GET", "share/docs", "restype=directory").header("x-ms-file-permission-key"),
            "");
}

TEST_F(FileReplies, TheRootTellsThePermissionItWasGiven) {
  ASSERT_EQ(files
                .send("PUT", "share", "restype=directory&comp=properties",
                      {{"x-ms-file-permission", "O:SYG:SYD:(A;;FA;;;SY)"}})
                .outcome(),
            "200");
  EXPECT_NE(files.send("GET", "share", "restype=directory").header("x-ms-file-permission-key"), "");
}

TEST_F(FileReplies, TheRootHasAnETagOfItsOwn) {
  EXPECT_NE(files.send("GET", "share", "restype=directory").header("ETag"),
            files.send("GET", "share", "restype=share").header("ETag"));
}

TEST_F(FileReplies, SnapshotsTellTheirTier) {
  ASSERT_EQ(
      files.send("PUT", "share", "restype=share&comp=properties", {{"x-ms-access-tier", "Hot"}})
          .outcome(),
      "200");
  const auto snapshot = files.snapshot("share");
  ASSERT_EQ(
      files.send("PUT", "share", "restype=share&comp=properties", {{"x-ms-access-tier", "Cool"}})
          .outcome(),
      "200");
  const auto shown = files.send("GET", "share", "restype=share&sharesnapshot=" + snapshot);
  EXPECT_EQ(shown.header("x-ms-access-tier"), "Hot");
  EXPECT_NE(shown.header("x-ms-access-tier-change-time"), "");
  files.version = "2018-11-09";
  const auto old = files.send("GET", "share", "restype=share&sharesnapshot=" + snapshot);
  EXPECT_EQ(old.header("x-ms-access-tier"), "");
}

TEST_F(FileReplies, PremiumSharesTellWhatTheVersionKnows) {
  ASSERT_EQ(
      files.send("PUT", "nfs", "restype=share", {{"x-ms-enabled-protocols", "NFS"}}).outcome(),
      "201");
  struct Row {
    const char* version;
    const char* directory;
    const char* bursting;
  };
  for (const Row& row : {Row{"2021-06-08", "", ""}, Row{"2024-08-04", "false", ""},
                         Row{"2025-05-05", "false", "false"}}) {
    files.version = row.version;
    const auto shown = files.send("GET", "nfs", "restype=share");
    EXPECT_EQ(shown.header("x-ms-enable-snapshot-virtual-directory-access"), row.directory);
    EXPECT_EQ(shown.header("x-ms-share-paid-bursting-enabled"), row.bursting);
    EXPECT_EQ(shown.header("x-ms-enabled-protocols"), "NFS");
  }
}

TEST_F(FileReplies, ListsEchoWhatWasSent) {
  const auto handles = files.send("GET", "share", "comp=listhandles&maxresults=7");
  EXPECT_EQ(element(handles, "MaxResults"), "7");
  EXPECT_EQ(element(files.send("GET", "share", "comp=listhandles"), "MaxResults"), "(none)");
  const std::string list = "restype=directory&comp=list&prefix=a%EF%BF%BE";
  EXPECT_NE(
      files.send("GET", "share", list).body.find("<Prefix Encoded=\"true\">a%EF%BF%BE</Prefix>"),
      std::string::npos);
}

TEST_F(FileReplies, ADeletedSharesLeaseIsBroken) {
  const auto before = files.send("GET", "share", "restype=share").header("ETag");
  service::AccountSettings settings;
  settings.share_retention_days = 7;
  files.around.context.settings.set("account", settings);
  ASSERT_EQ(files.send("DELETE", "share", "restype=share").outcome(), "202");
  const auto listed = files.send("GET", "", "comp=list&include=deleted");
  EXPECT_EQ(element(listed, "Deleted"), "true");
  EXPECT_EQ(element(listed, "LeaseStatus"), "unlocked");
  EXPECT_EQ(element(listed, "LeaseState"), "broken");
  ASSERT_EQ(files
                .send("PUT", "share", "restype=share&comp=undelete",
                      {{"x-ms-deleted-share-name", "share"},
                       {"x-ms-deleted-share-version", element(listed, "Version")}})
                .outcome(),
            "201");
  const auto restored = files.send("GET", "share", "restype=share");
  EXPECT_EQ(restored.header("x-ms-lease-state"), "available");
  EXPECT_NE(restored.header("ETag"), before);
}

TEST_F(FileReplies, ARenamedFileTakesAContentType) {
  const TestService::Headers typed = {{"x-ms-content-type", "text/x-tea"}};
  ASSERT_EQ(files.rename("share/docs/a.txt", "share/b", false, typed).outcome(), "200");
  EXPECT_EQ(files.send("HEAD", "share/b").header("Content-Type"), "text/x-tea");
  ASSERT_EQ(files.rename("share/b", "share/c", false).outcome(), "200");
  EXPECT_EQ(files.send("HEAD", "share/c").header("Content-Type"), "text/x-tea");
}

TEST_F(FileReplies, WhatIsShownAgainIsReadable) {
  constexpr const char* kLatin = "caf\xe9";
  constexpr const char* kRefused = "400 InvalidHeaderValue";
  for (const char* header : {"x-ms-content-type", "x-ms-content-encoding", "x-ms-content-language",
                             "x-ms-content-disposition", "x-ms-cache-control"}) {
    const TestService::Headers latin = {{header, kLatin}};
    EXPECT_EQ(files.make_file("share/b", "0", latin).outcome(), kRefused) << header;
    EXPECT_EQ(files.send("PUT", "share/docs/a.txt", "comp=properties", latin).outcome(), kRefused)
        << header;
    EXPECT_EQ(
        files.make_file("share/" + std::string(header), "0", {{header, "\xe2\x82\xac"}}).outcome(),
        "201");
  }
  const TestService::Headers typed = {{"x-ms-content-type", kLatin}};
  EXPECT_EQ(files.rename("share/docs/a.txt", "share/b", false, typed).outcome(), kRefused);
  const TestService::Headers copy = {
      {"x-ms-copy-source", "http://127.0.0.1:10003/account/share/docs/a.txt?\xe9"}};
  EXPECT_EQ(files.send("PUT", "share/b", {}, copy).outcome(), kRefused);
}

// Opened over SMB, where such names come from.
TEST_F(FileReplies, HandlesOfNamesThatXmlCannotHold) {
  const store::Key key(lifetime::directory_space("account"), lifetime::kSharesFamily, "share");
  tree::FileOpen open;
  auto looked = RunLoop::run(files.around.context.store.look([&](const store::View& view) {
    open.file = {store::decode<Share>((*view.get(key))->value)->space, 7};
    return store::Result<void>();
  }));
  ASSERT_TRUE(looked.ok());
  open.ancestors = {kRootId};
  open.path = "docs/\xef\xbf\xbf";
  const auto opened = RunLoop::run(files.service.open_files().open(open));
  ASSERT_TRUE(opened.ok());
  const struct {
    const char* version;
    const char* path;
  } rows[] = {{"2021-06-08", "<Path>docs/\xef\xbf\xbd</Path>"},
              {"2021-12-02", "<Path Encoded=\"true\">docs%2F%EF%BF%BF</Path>"}};
  for (const auto& [version, path] : rows) {
    files.version = version;
    const auto listed =
        files.send("GET", "share", "comp=listhandles", {{"x-ms-recursive", "true"}});
    EXPECT_NE(listed.body.find(path), std::string::npos) << version << " " << listed.body;
    EXPECT_TRUE(wire::xml_can_hold(listed.body)) << version;
  }
  EXPECT_TRUE(files.service.open_files().close(*opened).ok());
}

TEST_F(FileReplies, DotsOfSourcesStayIfAsked) {
  const TestService::Headers keep = {{"x-ms-allow-trailing-dot", "true"}};
  auto make = [&](const std::string& path) {
    TestService::Headers headers = keep;
    headers.insert(headers.end(), {{"x-ms-type", "file"}, {"x-ms-content-length", "7"}});
    return files.send("PUT", path, {}, headers).outcome();
  };
  ASSERT_EQ(make("share/dotted."), "201");
  auto copy = [&](const char* dots) {
    TestService::Headers headers = {
        {"x-ms-copy-source", "http://127.0.0.1:10003/account/share/dotted."}};
    if (*dots != 0) headers.emplace_back("x-ms-source-allow-trailing-dot", dots);
    return files.send("PUT", "share/copy", {}, headers).outcome();
  };
  EXPECT_EQ(copy(""), "404 ResourceNotFound");
  EXPECT_EQ(copy("false"), "404 ResourceNotFound");
  EXPECT_EQ(copy("maybe"), "400 InvalidHeaderValue");
  EXPECT_EQ(copy("true"), "202");
  EXPECT_EQ(files.rename("share/dotted.", "share/moved", false).outcome(), "404 ResourceNotFound");
  const TestService::Headers source = {{"x-ms-source-allow-trailing-dot", "true"}};
  EXPECT_EQ(files.rename("share/dotted.", "share/moved", false, source).outcome(), "200");
}

TEST_F(FileReplies, CopiesAreMarkedForArchivingWhateverTheSourceHas) {
  ASSERT_EQ(files.make_file("share/source", "0").outcome(), "201");
  ASSERT_EQ(files.send("PUT", "share/source", "comp=properties", {{"x-ms-file-attributes", "None"}})
                .outcome(),
            "200");
  const auto copied = [&](const char* archive) {
    TestService::Headers headers = {
        {"x-ms-copy-source", "http://127.0.0.1:10003/account/share/source"},
        {"x-ms-file-attributes", "source"}};
    if (*archive != 0) headers.emplace_back("x-ms-file-copy-set-archive", archive);
    EXPECT_EQ(files.send("PUT", "share/copy", {}, headers).outcome(), "202") << archive;
    return files.send("HEAD", "share/copy", {}, {}).header("x-ms-file-attributes");
  };
  EXPECT_EQ(copied(""), "None");
  EXPECT_EQ(copied("false"), "None");
  EXPECT_EQ(copied("true"), "Archive");
}

TEST_F(FileReplies, PermissionsWithoutAccessControlComeBack) {
  const std::string sddl = "O:SYG:SYD:AI(A;;FA;;;SY)S:NO_ACCESS_CONTROL";
  const auto made = files.make_file("share/p", "0", {{"x-ms-file-permission", sddl}});
  ASSERT_EQ(made.outcome(), "201");
  const auto shown =
      files.send("GET", "share", "restype=share&comp=filepermission",
                 {{"x-ms-file-permission-key", made.header("x-ms-file-permission-key")}});
  EXPECT_EQ(shown.body, "{\"permission\":\"" + sddl + "\"}");
}

}  // namespace
}  // namespace kyanite::file
