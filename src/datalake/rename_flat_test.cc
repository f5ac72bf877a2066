// Renames where there are no directories.
#include "datalake/rename_flat.h"

#include <gtest/gtest.h>

#include <string>

#include "datalake/test_flat.h"
#include "store/memory.h"

namespace kyanite::datalake {
namespace {

using Request = TestLake::Request;

constexpr const char* kLease = "7a7bfe98-cb1b-cb87-a725-27bffba74613";

TestLake::Headers acquire() {
  return {{"x-ms-lease-action", "acquire"},
          {"x-ms-lease-duration", "-1"},
          {"x-ms-proposed-lease-id", kLease}};
}

// As where there are directories, but that a directory may be only implied.
TEST(RenameFlat, WhatIsAtTheDestination) {
  const char* const before = "empty/ f full/f marked/ marked/1 src/1 src/2/3 ";
  const struct {
    const char* from;
    const char* to;
    const char* query;
    bool only_new;  // If-None-Match: *
    const char* outcome;
    const char* names;
  } cases[] = {
      {"src", "new", "mode=legacy", true, "201", "empty/ f full/f marked/ marked/1 new/1 new/2/3 "},
      {"src/", "new/", "mode=legacy", true, "201",
       "empty/ f full/f marked/ marked/1 new/1 new/2/3 "},
      {"marked", "a/b", "", true, "201", "a/b/ a/b/1 empty/ f full/f src/1 src/2/3 "},
      {"empty", "new", "", false, "201", "f full/f marked/ marked/1 new/ src/1 src/2/3 "},
      {"src", "empty", "mode=legacy", false, "201",
       "empty/ empty/1 empty/2/3 f full/f marked/ marked/1 "},
      {"marked", "empty", "mode=legacy", false, "201", "empty/ empty/1 f full/f src/1 src/2/3 "},
      {"src", "empty", "mode=legacy", true, "409 BlobAlreadyExists", ""},
      {"src", "empty", "", false, "201",
       "empty/ empty/src/1 empty/src/2/3 f full/f marked/ marked/1 "},
      {"src", "empty", "", true, "201",
       "empty/ empty/src/1 empty/src/2/3 f full/f marked/ marked/1 "},
      {"src", "full", "mode=posix", false, "201",
       "empty/ f full/f full/src/1 full/src/2/3 marked/ marked/1 "},
      {"src", "full", "mode=legacy", false, "409 PathAlreadyExists", ""},
      {"src", "marked", "mode=legacy", false, "409 PathAlreadyExists", ""},
      {"src", "full", "mode=legacy", true, "409 BlobAlreadyExists", ""},
      {"src", "f", "", false, "409 InvalidSourceOrDestinationResourceType", ""},
      {"f", "empty", "", false, "201", "empty/ empty/f full/f marked/ marked/1 src/1 src/2/3 "},
      {"f", "full", "", false, "201", "empty/ full/f marked/ marked/1 src/1 src/2/3 "},
      {"f", "full", "", true, "409 BlobAlreadyExists", ""},
      {"f", "empty", "mode=legacy", false, "409 InvalidSourceOrDestinationResourceType", ""},
      {"f", "full", "mode=legacy", false, "409 InvalidSourceOrDestinationResourceType", ""},
      {"src", "src", "", false, "409 InvalidRenameSourcePath", ""},
      {"src", "src/2/new", "", false, "409 InvalidRenameSourcePath", ""},
      {"src/2", "src", "mode=legacy", false, "409 PathAlreadyExists", ""},
      {"src/2", "src", "", false, "409 InvalidRenameSourcePath", ""},
      {"src/2", "", "", false, "201", "2/3 empty/ f full/f marked/ marked/1 src/1 "},
      {"src/1", "", "mode=legacy", false, "201", "1 empty/ f full/f marked/ marked/1 src/2/3 "},
      {"full/f", "", "", true, "409 BlobAlreadyExists", ""},
      {"none", "new", "", false, "404 SourcePathNotFound", ""},
      {"sr", "new", "", false, "404 SourcePathNotFound", ""},
  };
  for (const auto& given : cases) {
    TestFlat flat;
    flat.write({"flat/f", "flat/full/f", "flat/src/1", "flat/src/2/3", "flat/empty/",
                "flat/marked/", "flat/marked/1"});
    ASSERT_EQ(flat.names(), before);
    Request move =
        TestLake::rename(std::string("flat/") + given.from, std::string("flat/") + given.to);
    move.query = given.query;
    if (given.only_new) move.headers.emplace_back("If-None-Match", "*");
    const std::string what = std::string(given.from) + " to " + given.to + " " + given.query;
    EXPECT_EQ(flat.send(move).outcome(), given.outcome) << what;
    EXPECT_EQ(flat.names(), *given.names == 0 ? before : given.names) << what;
    for (const auto& [name, head] : flat.heads("flat")) EXPECT_FALSE(head.arrival) << name;
  }
}

TEST(RenameFlat, ADirectoryKeepsWhatItIs) {
  TestFlat flat;
  flat.write({"flat/d/", "flat/d/f"});
  ASSERT_EQ(flat.send({"PATCH", "flat/d", "action=setProperties", {{"x-ms-properties", "a=MQ=="}}})
                .status,
            200);
  const auto before = flat.send({"HEAD", "flat/d"});
  const auto file = flat.send({"HEAD", "flat/d/f"});
  const auto moved = flat.send(TestLake::rename("flat/d", "flat/e"));
  EXPECT_EQ(moved.header("ETag"), before.header("ETag"));
  EXPECT_EQ(flat.send({"HEAD", "flat/e"}).header("x-ms-meta-a"), "1");
  EXPECT_EQ(flat.send({"HEAD", "flat/e/f"}).header("ETag"), file.header("ETag"));
  EXPECT_EQ(flat.content("flat/e/f"), "flat/d/f");
  // Properties that come along replace its own, not what it is.
  Request again = TestLake::rename("flat/e", "flat/g");
  again.headers.emplace_back("x-ms-properties", "b=Mg==");
  ASSERT_EQ(flat.send(again).outcome(), "201");
  EXPECT_EQ(flat.send({"HEAD", "flat/g"}).header("x-ms-meta-a"), "");
  EXPECT_EQ(flat.send({"HEAD", "flat/g"}).header("x-ms-meta-b"), "2");
  EXPECT_EQ(flat.names(), "g/ g/f ");
}

TEST(RenameFlat, ConditionsAndLeases) {
  const struct {
    const char* leased;  // A path.
    TestLake::Headers headers;
    const char* outcome;
  } cases[] = {
      {"", {}, "201"},
      {"", {{"x-ms-source-if-match", "\"0x1\""}}, "412 SourceConditionNotMet"},
      {"", {{"If-Match", "\"0x1\""}}, "412 ConditionNotMet"},
      {"", {{"x-ms-source-lease-id", kLease}}, "412 LeaseNotPresentWithBlobOperation"},
      {"", {{"x-ms-lease-id", kLease}}, "412 LeaseNotPresentWithBlobOperation"},
      {"flat/d", {}, "412 LeaseIdMissing"},
      {"flat/d", {{"x-ms-source-lease-id", kLease}}, "201"},
      {"flat/e", {}, "412 LeaseIdMissing"},
      {"flat/e", {{"x-ms-lease-id", kLease}}, "201"},
      // What lies below and is leased stays, and nothing goes.
      {"flat/d/2", {}, "412 LeaseIdMissing"},
      {"flat/d/2", {{"x-ms-source-lease-id", kLease}}, "412 LeaseNotPresentWithBlobOperation"},
  };
  for (const auto& given : cases) {
    TestFlat flat;
    flat.write({"flat/d/", "flat/d/1", "flat/d/2", "flat/e/"});
    if (*given.leased != 0) {
      ASSERT_EQ(flat.send({"PUT", given.leased, "comp=lease", acquire()}).status, 201);
    }
    Request move = TestLake::rename("flat/d", "flat/e");
    move.headers.insert(move.headers.end(), given.headers.begin(), given.headers.end());
    EXPECT_EQ(flat.send(move).outcome(), given.outcome) << given.leased;
    const bool moved = given.outcome == std::string("201");
    EXPECT_EQ(flat.names(), moved ? "e/ e/1 e/2 " : "d/ d/1 d/2 e/ ") << given.leased;
    if (!moved) continue;
    const bool still = given.leased == std::string("flat/e");
    EXPECT_EQ(flat.send({"HEAD", "flat/e"}).header("x-ms-lease-state"),
              still ? "leased" : "available");
  }
}

TEST(RenameFlat, SnapshotsAndHoldsKeepAllOfIt) {
  for (const char* path : {"flat/d", "flat/d/2"}) {
    for (const bool versions : {false, true}) {
      for (const bool held : {false, true}) {
        TestFlat flat;
        flat.set({.blob_versioning = versions, .blob_immutability = true});
        flat.write({"flat/d/", "flat/d/1", "flat/d/2"});
        if (held) {
          ASSERT_EQ(
              flat.send({"PUT", path, "comp=legalhold", {{"x-ms-legal-hold", "true"}}}).status,
              200);
        } else {
          ASSERT_EQ(flat.send({"PUT", path, "comp=snapshot"}).status, 201);
        }
        EXPECT_EQ(flat.send(TestLake::rename("flat/d", "flat/e")).outcome(),
                  held ? "409 BlobImmutableDueToLegalHold" : "409 SnapshotsPresent")
            << path;
        EXPECT_EQ(flat.names(), "d/ d/1 d/2 ") << path << versions << held;
      }
    }
  }
}

// A request that gave itself little time does one portion.
TEST(RenameFlat, InPages) {
  for (const char* to : {"flat/e", "other/e"}) {
    TestFlat flat;
    flat.write(numbered("flat/d/", 250));
    flat.write({"flat/d/"});
    Request move = TestLake::rename("flat/d", to);
    move.query = "mode=legacy&timeout=1";
    move.headers.emplace_back("If-None-Match", "*");  // As Hadoop sends it with each.
    const auto [pages, last] = flat.all_pages(move);
    EXPECT_EQ(pages, 3);
    EXPECT_EQ(last.outcome(), "201");
    const std::string container = std::string(to).substr(0, std::string(to).find('/'));
    const auto heads = flat.heads(container);
    EXPECT_EQ(heads.size(), 251U);
    EXPECT_TRUE(blob::is_folder(heads.at("e")));
    EXPECT_FALSE(heads.at("e").arrival);
    EXPECT_EQ(flat.content(container + "/e/1249"), "flat/d/1249");
    if (container == "other") {
      EXPECT_EQ(flat.names(), "");
    }
  }
}

TEST(RenameFlat, WhoDoesNotGoOnAndAsksAgainGoesOn) {
  for (const bool marked : {false, true}) {
    for (const char* query : {"mode=legacy&timeout=1", "timeout=1"}) {
      TestFlat flat;
      flat.write(numbered("flat/d/", 250));
      if (marked) flat.write({"flat/d/"});
      Request move = TestLake::rename("flat/d", "flat/e");
      move.query = query;
      move.headers.emplace_back("If-None-Match", "*");
      EXPECT_NE(flat.send(move).header("x-ms-continuation"), "");
      // It is in the way of others,
      flat.write({"flat/x/1"});
      Request other = TestLake::rename("flat/x", "flat/e");
      EXPECT_EQ(flat.send(other).outcome(), "409 PathAlreadyExists");
      EXPECT_EQ(flat.send(TestLake::remove("flat/x")).outcome(), "200");
      // and what comes below the source meanwhile goes along.
      flat.write({"flat/d/0999"});
      EXPECT_NE(flat.send(move).header("x-ms-continuation"), "");
      EXPECT_EQ(flat.all_pages(move).second.outcome(), "201");
      const auto heads = flat.heads("flat");
      EXPECT_EQ(heads.size(), marked ? 252U : 251U);
      EXPECT_TRUE(heads.begin()->first.starts_with("e"));
    }
  }
}

// Whatever is left of those that went before.
TEST(RenameFlat, WhoOnlyAsksAgainComesToTheEnd) {
  for (const bool renames : {false, true}) {
    TestFlat flat;
    flat.keep_deleted();
    flat.write(numbered("flat/d/", 250));
    Request request = renames ? TestLake::rename("flat/d", "flat/e") : TestLake::remove("flat/d");
    request.query += "&timeout=1";
    int pages = 1;
    while (pages < 10 && flat.send(request).header("x-ms-continuation") != "") ++pages;
    EXPECT_EQ(pages, 3);
    EXPECT_EQ(flat.heads("flat").size(), renames ? 250U : 0U);
  }
}

TEST(RenameFlat, AContinuationHoldsForOneRenameOnly) {
  TestFlat flat;
  flat.write(numbered("flat/d/", 150));
  flat.write(numbered("flat/secret/", 3));
  Request move = TestLake::rename("flat/d", "flat/e");
  move.query = "mode=legacy&timeout=1";
  const std::string token = flat.send(move).header("x-ms-continuation");
  ASSERT_NE(token, "");
  const std::string query = "mode=legacy&continuation=" + wire::percent_encode(token);
  const auto send = [&](const char* from, const char* to, const std::string& with) {
    Request other = TestLake::rename(from, to);
    other.query = with;
    return flat.send(other).outcome();
  };
  constexpr const char* kInvalid = "400 InvalidQueryParameterValue";
  EXPECT_EQ(send("flat/secret", "flat/e", query), kInvalid);
  EXPECT_EQ(send("flat/d", "flat/other", query), kInvalid);
  EXPECT_EQ(send("flat/d", "other/e", query), kInvalid);
  EXPECT_EQ(send("flat/d", "flat/e", "continuation=AAAA"), kInvalid);
  EXPECT_EQ(send("flat/d", "flat/e", "continuation=x"), kInvalid);
  EXPECT_EQ(send("flat/d", "flat/e", query), "201");
  EXPECT_EQ(flat.heads("flat").size(), 153U);
}

// Somebody else's blob below the destination is not replaced.
TEST(RenameFlat, WhatCameBelowTheDestinationMeanwhileStays) {
  TestFlat flat;
  flat.write(numbered("flat/d/", 150));
  Request move = TestLake::rename("flat/d", "flat/e");
  move.query = "mode=legacy&timeout=1";
  ASSERT_NE(flat.send(move).header("x-ms-continuation"), "");
  flat.write({"flat/e/1149"});
  EXPECT_EQ(flat.send(move).outcome(), "409 PathAlreadyExists");
  EXPECT_EQ(flat.content("flat/e/1149"), "flat/e/1149");
  EXPECT_EQ(flat.content("flat/d/1149"), "flat/d/1149");
  ASSERT_EQ(flat.send({"DELETE", "flat/e/1149"}).status, 202);
  EXPECT_EQ(flat.send(move).outcome(), "201");
  EXPECT_EQ(flat.content("flat/e/1149"), "flat/d/1149");
  EXPECT_EQ(flat.heads("flat").size(), 150U);
}

TEST(RenameFlat, TheSourceBecomesAVersionAndTheDestinationIsANewOne) {
  for (const char* to : {"flat/e/f", "other/e/f"}) {
    for (const bool tree : {false, true}) {
      TestFlat flat;
      flat.set({.blob_versioning = true});
      const auto first = flat.send(TestLake::put("flat/d/f", "one")).header("x-ms-version-id");
      const std::string directory = std::string(to).substr(0, std::string(to).size() - 2);
      const auto there =
          tree ? "" : flat.send(TestLake::put(to, "there")).header("x-ms-version-id");
      flat.around.clock.advance_seconds(1);
      ASSERT_EQ(
          flat.send(tree ? TestLake::rename("flat/d", directory) : TestLake::rename("flat/d/f", to))
              .outcome(),
          "201");
      EXPECT_EQ(flat.send({"GET", "flat/d/f"}).outcome(), "404 BlobNotFound");
      EXPECT_EQ(flat.send({"GET", "flat/d/f", "versionid=" + first}).body, "one");
      const auto moved = flat.send({"GET", to});
      EXPECT_EQ(moved.body, "one");
      EXPECT_EQ(moved.header("x-ms-is-current-version"), "true");
      const auto second = moved.header("x-ms-version-id");
      EXPECT_GT(second, first);
      if (!tree) {
        EXPECT_EQ(flat.send({"GET", to, "versionid=" + there}).body, "there");
      }
      // And back again, over its own former version.
      flat.around.clock.advance_seconds(1);
      ASSERT_EQ(
          flat.send(tree ? TestLake::rename(directory, "flat/d") : TestLake::rename(to, "flat/d/f"))
              .outcome(),
          "201");
      EXPECT_EQ(flat.content("flat/d/f"), "one");
      EXPECT_EQ(flat.send({"GET", to, "versionid=" + second}).body, "one");
      EXPECT_EQ(flat.send({"GET", "flat/d/f", "versionid=" + first}).body, "one");
      // What only marked the way is no version of anything.
      const auto listed =
          flat.send({"GET", "flat", "restype=container&comp=list&include=versions&prefix=e"});
      EXPECT_EQ(listed.body.find("<Name>e</Name>"), std::string::npos);
    }
  }
}

TEST(RenameFlat, SoftDeleteKeepsTheSourceAndWhatIsReplaced) {
  for (const char* to : {"flat/e/f", "other/e/f"}) {
    TestFlat flat;
    flat.keep_deleted();
    flat.write({"flat/d/f", to});
    ASSERT_EQ(flat.send(TestLake::rename("flat/d/f", to)).outcome(), "201");
    EXPECT_EQ(flat.content(to), "flat/d/f");
    ASSERT_EQ(flat.send({"PUT", "flat/d/f", "comp=undelete"}).outcome(), "200");
    EXPECT_EQ(flat.content("flat/d/f"), "flat/d/f");
    const std::string container = std::string(to).substr(0, std::string(to).find('/'));
    const auto listed = flat.send(
        {"GET", container, "restype=container&comp=list&include=deleted,snapshots&prefix=e/"});
    EXPECT_NE(listed.body.find("<Deleted>true</Deleted>"), std::string::npos);
  }
}

// A store that stops writing after so many commits.
class MortalStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    if (left_ == 0) co_return store::Error::kIo;
    if (left_ > 0) --left_;
    co_return co_await MemoryStore::commit(std::move(commit));
  }
  void live(int commits) { left_ = commits; }

 private:
  int left_ = -1;
};

// Wherever it dies, nothing is lost, and who asks again ends with all of it in one place.
TEST(RenameFlat, AfterADeathItIsTakenUpAgain) {
  for (const char* to : {"flat/e", "other/e"}) {
    for (const bool marked : {false, true}) {
      int deaths = 0;
      for (int commits = 0; commits < 20; ++commits) {
        MortalStore store;
        TestFlat flat(store);
        flat.write(numbered("flat/d/", 110));
        if (marked) flat.write({"flat/d/"});
        const std::string container = std::string(to).substr(0, std::string(to).find('/'));
        Request move = TestLake::rename("flat/d", to);
        move.headers.emplace_back("If-None-Match", "*");
        store.live(commits);
        const auto answer = flat.send(move);
        store.live(-1);
        if (answer.status == 201) break;
        ++deaths;
        const auto left = flat.heads("flat");
        const auto entered = flat.heads(container);
        for (int i = 0; i < 110; ++i) {
          const std::string name = "/" + std::to_string(1000 + i);
          const bool there = left.contains("d" + name);
          const bool here = entered.contains("e" + name);
          EXPECT_TRUE(container == "flat" ? there != here : there || here) << commits << name;
        }
        EXPECT_EQ(flat.send(move).outcome(), "201") << "after " << commits;
        const auto heads = flat.heads(container);
        EXPECT_EQ(heads.size(), marked ? 111U : 110U) << "after " << commits;
        EXPECT_EQ(flat.content(std::string(to) + "/1109"), "flat/d/1109");
        EXPECT_TRUE(heads.begin()->first.starts_with("e"));
        if (container == "other") {
          EXPECT_EQ(flat.names(), "") << "after " << commits;
        }
      }
      EXPECT_GE(deaths, 4);
    }
  }
}

TEST(RenameFlat, IntoAnotherFileSystem) {
  TestFlat flat;
  const std::string large(100'000, 'x');
  ASSERT_EQ(flat.send(TestLake::put("flat/f", large)).status, 201);
  flat.write({"other/g", "flat/d/1", "flat/d/2/3"});
  const auto etag = flat.send({"HEAD", "flat/f"}).header("ETag");
  EXPECT_EQ(flat.send(TestLake::rename("flat/f", "none/f")).outcome(), "404 ContainerNotFound");
  EXPECT_EQ(flat.send(TestLake::rename("none/f", "flat/f")).outcome(), "404 ContainerNotFound");
  EXPECT_EQ(flat.send(TestLake::rename("flat/f", "lake/f")).outcome(), "501 NotImplemented");
  const auto moved = flat.send(TestLake::rename("flat/f", "other/g"));
  EXPECT_EQ(moved.outcome(), "201");
  EXPECT_EQ(moved.header("ETag"), etag);
  EXPECT_EQ(flat.content("other/g"), large);
  EXPECT_EQ(flat.send(TestLake::rename("flat/d", "other/d")).outcome(), "201");
  EXPECT_EQ(flat.names(), "");
  EXPECT_EQ(flat.names("other"), "d/1 d/2/3 g ");
}

}  // namespace
}  // namespace kyanite::datalake
