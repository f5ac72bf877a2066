// What becomes of the state that an operation replaces or deletes: a version, a soft-deleted head,
// or nothing, and that no content stays that nothing names.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "blob/test_support.h"
#include "store/interleaving.h"

namespace kyanite::blob {
namespace {

using Request = TestService::Request;

// The request that a word of a story stands for. A put is of as many bytes as its number says.
Request request_of(const std::string& word) {
  static const std::map<std::string, Request> kWords{
      {"metadata", {"PUT", "box/blob", "comp=metadata", {{"x-ms-meta-a", "b"}}}},
      {"properties", {"PUT", "box/blob", "comp=properties", {{"x-ms-blob-content-type", "a/b"}}}},
      {"tags", TestService::set_tags("box/blob", "a", "1")},
      {"snapshot", {"PUT", "box/blob", "comp=snapshot"}},
      {"lease",
       {"PUT",
        "box/blob",
        "comp=lease",
        {{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "15"}}}},
      {"delete", {"DELETE", "box/blob"}},
      {"delete-all", {"DELETE", "box/blob", {}, {{"x-ms-delete-snapshots", "include"}}}},
      {"delete-snapshots", {"DELETE", "box/blob", {}, {{"x-ms-delete-snapshots", "only"}}}},
      {"undelete", {"PUT", "box/blob", "comp=undelete"}},
      {"block", {"PUT", "box/blob", "comp=block&blockid=YQ%3D%3D", {}, "block"}},
      {"list",
       {"PUT", "box/blob", "comp=blocklist", {}, "<BlockList><Latest>YQ==</Latest></BlockList>"}},
      {"page-blob",
       {"PUT",
        "box/blob",
        {},
        {{"x-ms-blob-type", "PageBlob"}, {"x-ms-blob-content-length", "512"}}}},
      {"page",
       {"PUT",
        "box/blob",
        "comp=page",
        {{"x-ms-page-write", "update"}, {"x-ms-range", "bytes=0-511"}},
        std::string(512, 'p')}},
      {"hold", {"PUT", "box/blob", "comp=legalhold", {{"x-ms-legal-hold", "true"}}}},
      {"release", {"PUT", "box/blob", "comp=legalhold", {{"x-ms-legal-hold", "false"}}}},
  };
  if (const auto known = kWords.find(word); known != kWords.end()) return known->second;
  EXPECT_EQ(word.rfind("put", 0), 0U) << word;
  return TestService::put("box/blob", {}, std::string(std::stoul(word.substr(3)), 'x'));
}

struct World {
  bool versions = false;
  bool soft_delete = false;
};
constexpr World kPlain{false, false};
constexpr World kSoft{false, true};
constexpr World kVersions{true, false};
constexpr World kBoth{true, true};

struct Story {
  World world;
  std::string words;    // What happens, a second apart; "week" lets one go by.
  std::string outcome;  // of the last
  std::string heads;    // then
};

void prepare(TestService& blobs, const World& world) {
  service::AccountSettings settings;
  settings.blob_versioning = world.versions;
  settings.blob_immutability = true;
  blobs.set(settings);
  ASSERT_EQ(blobs.make_container("box").outcome(), "201");
  if (world.soft_delete) {
    ASSERT_EQ(blobs.keep_deleted().outcome(), "202");
  }
}

void run(const Story& story) {
  SCOPED_TRACE(std::string(story.world.versions ? "versions " : "") +
               (story.world.soft_delete ? "soft delete: " : ": ") + story.words);
  TestService blobs;
  prepare(blobs, story.world);
  std::string last;
  std::istringstream words(story.words);
  for (std::string word; words >> word;) {
    blobs.around.clock.advance_seconds(word == "week" ? 7 * 24 * 3600 : 1);
    if (word != "week") last = blobs.send(request_of(word)).outcome();
  }
  EXPECT_EQ(last, story.outcome);
  const auto left = blobs.left();
  EXPECT_EQ(left.shown, story.heads);
  EXPECT_EQ(left.unnamed, 0U);
}

TEST(Settle, WhatAWriteLeaves) {
  const Story kStories[] = {
      {kPlain, "put1 put2", "201", "blob:2 "},
      {kSoft, "put1 put2", "201", "blob:2 -snapshot:1 "},
      {kVersions, "put1 put2", "201", "blob:2 version:1 "},
      {kBoth, "put1 put2", "201", "blob:2 version:1 "},
      {kVersions, "put1 put2 put3", "201", "blob:3 version:1 version:2 "},
      // Metadata makes versions, but leaves nothing that is deleted.
      {kPlain, "put1 metadata", "200", "blob:1 "},
      {kSoft, "put1 metadata", "200", "blob:1 "},
      {kVersions, "put1 metadata", "200", "blob:1 version:1 "},
      // In place whatever is kept.
      {kBoth, "put1 properties", "200", "blob:1 "},
      {kBoth, "put1 tags", "204", "blob:1 "},
      {kBoth, "put1 lease", "201", "blob:1 "},
      {kBoth, "page-blob page", "201", "blob:512 "},
      // Pages are written in place, so that a version has a list of pieces of its own.
      {kVersions, "page-blob page metadata page", "201", "blob:512 version:512 "},
      {kPlain, "block list", "201", "blob:5 "},
      {kPlain, "block list put2", "201", "blob:2 "},
      {kSoft, "put1 block list", "201", "blob:5 -snapshot:1 "},
      {kVersions, "put1 block list", "201", "blob:5 version:1 "},
      // The committed block is one of the blob that is replaced.
      {kVersions, "block list list", "201", "blob:5 version:5 "},
  };
  for (const auto& story : kStories) run(story);
}

TEST(Settle, WhatADeletionLeaves) {
  const Story kStories[] = {
      {kPlain, "put1 delete", "202", ""},
      {kSoft, "put1 delete", "202", "-blob:1 "},
      {kVersions, "put1 delete", "202", "version:1 "},
      {kBoth, "put1 delete", "202", "version:1 "},
      {kPlain, "delete", "404 BlobNotFound", ""},
      {kSoft, "put1 delete delete", "404 BlobNotFound", "-blob:1 "},
      // Snapshots have to be named.
      {kPlain, "put1 snapshot delete", "409 SnapshotsPresent", "blob:1 snapshot:1 "},
      {kPlain, "put1 snapshot delete-snapshots", "202", "blob:1 "},
      {kPlain, "put1 snapshot delete-all", "202", ""},
      {kPlain, "put1 snapshot put2 delete-all", "202", ""},
      {kSoft, "put1 snapshot delete-snapshots", "202", "blob:1 -snapshot:1 "},
      {kSoft, "put1 snapshot delete-all", "202", "-blob:1 -snapshot:1 "},
      // Those that are deleted already are in nobody's way.
      {kSoft, "put1 snapshot delete-snapshots delete", "202", "-blob:1 -snapshot:1 "},
      {kVersions, "put1 snapshot delete-all", "202", "version:1 version:1 "},
  };
  for (const auto& story : kStories) run(story);
}

TEST(Settle, WhatWasDeletedGivesWayAndComesBack) {
  const Story kStories[] = {
      {kSoft, "put1 delete undelete", "200", "blob:1 "},
      {kSoft, "put1 put2 delete undelete", "200", "blob:2 snapshot:1 "},
      {kSoft, "put1 snapshot delete-all undelete", "200", "blob:1 snapshot:1 "},
      {kSoft, "put1 undelete", "200", "blob:1 "},
      // A deleted blob whose name is taken lives on among the deleted snapshots.
      {kSoft, "put1 delete put2", "201", "blob:2 -snapshot:1 "},
      {kSoft, "put1 delete put2 undelete", "200", "blob:2 snapshot:1 "},
      {kSoft, "put1 delete block list", "201", "blob:5 -snapshot:1 "},
      // It has no lease, no metadata to change and no snapshot to take.
      {kSoft, "put1 delete metadata", "404 BlobNotFound", "-blob:1 "},
      {kSoft, "put1 delete snapshot", "404 BlobNotFound", "-blob:1 "},
      {kSoft, "put1 delete lease", "404 BlobNotFound", "-blob:1 "},
      // Kept long enough: gone, even before it is cleared away.
      {kSoft, "put1 delete week undelete", "404 BlobNotFound", "-blob:1 "},
      {kPlain, "put1 delete undelete", "404 BlobNotFound", ""},
      {kVersions, "put1 delete undelete", "200", "version:1 "},
  };
  for (const auto& story : kStories) run(story);
}

TEST(Settle, WhatIsHeldStays) {
  const Story kStories[] = {
      {kPlain, "put1 hold put2", "409 BlobImmutableDueToLegalHold", "blob:1 "},
      {kPlain, "put1 hold metadata", "409 BlobImmutableDueToLegalHold", "blob:1 "},
      {kPlain, "put1 hold delete", "409 BlobImmutableDueToLegalHold", "blob:1 "},
      {kSoft, "put1 hold delete", "409 BlobImmutableDueToLegalHold", "blob:1 "},
      {kPlain, "put1 hold snapshot", "201", "blob:1 snapshot:1 "},
      {kPlain, "put1 hold snapshot delete-snapshots", "409 BlobImmutableDueToLegalHold",
       "blob:1 snapshot:1 "},
      {kPlain, "put1 hold release put2", "201", "blob:2 "},
      // Where a version keeps the state, it may be replaced, yet not deleted.
      {kVersions, "put1 hold put2", "201", "blob:2 version:1 "},
      {kVersions, "put1 hold delete", "409 BlobImmutableDueToLegalHold", "blob:1 "},
  };
  for (const auto& story : kStories) run(story);
}

// The id of what a write replaced, and what is then read by it.
TEST(Settle, VersionsAreReadByTheIdTheyWereTold) {
  TestService blobs;
  prepare(blobs, kVersions);
  std::vector<std::string> ids;
  for (const std::string word : {"put1", "put2", "metadata", "put3"}) {
    const auto answer = blobs.send(request_of(word));  // All in one instant.
    ids.push_back(answer.header("x-ms-version-id"));
    EXPECT_FALSE(ids.back().empty()) << word;
  }
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
  const size_t kLengths[] = {1, 2, 2, 3};
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto read = blobs.send({"GET", "box/blob", "versionid=" + ids[i]});
    EXPECT_EQ(read.outcome(), "200");
    EXPECT_EQ(read.body.size(), kLengths[i]);
    EXPECT_EQ(read.header("x-ms-is-current-version"), i + 1 == ids.size() ? "true" : "");
  }
  // One that goes takes its content along, unless another head names it.
  EXPECT_EQ(blobs.send({"DELETE", "box/blob", "versionid=" + ids[1]}).outcome(), "202");
  EXPECT_EQ(blobs.left().shown, "blob:3 version:1 version:2 ");
  EXPECT_EQ(blobs.send({"GET", "box/blob", "versionid=" + ids[2]}).body, "xx");
  EXPECT_EQ(blobs.send({"DELETE", "box/blob", "versionid=" + ids[2]}).outcome(), "202");
  EXPECT_EQ(blobs.left().unnamed, 0U);
  EXPECT_EQ(blobs.send({"DELETE", "box/blob", "versionid=" + ids[3]}).outcome(),
            "403 OperationNotAllowedOnRootBlob");
}

TEST(Settle, ALeaseOutlivesTheStateButNoFormerStateHasOne) {
  TestService blobs;
  prepare(blobs, kVersions);
  const auto put = blobs.send(request_of("put1"));
  const std::string lease = blobs.send(request_of("lease")).header("x-ms-lease-id");
  EXPECT_EQ(blobs.send(request_of("put2")).outcome(), "412 LeaseIdMissing");
  Request again = request_of("put2");
  again.headers.emplace_back("x-ms-lease-id", lease);
  EXPECT_EQ(blobs.send(again).outcome(), "201");
  EXPECT_EQ(blobs.send({"HEAD", "box/blob"}).header("x-ms-lease-state"), "leased");
  const std::string former = "versionid=" + put.header("x-ms-version-id");
  EXPECT_EQ(blobs.send({"HEAD", "box/blob", former}).header("x-ms-lease-state"), "");
  EXPECT_EQ(blobs.send({"DELETE", "box/blob", former}).outcome(), "202");
}

// Writers that meet, without the lines in which they would wait for each other.
TEST(Settle, EveryStateIsKeptOnceHoweverWritersMeet) {
  constexpr uint64_t kSeeds = 50;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const World& world : {kPlain, kSoft, kVersions, kBoth}) {
      store::InterleavedStore store;
      TestService blobs(store);
      prepare(blobs, world);
      ASSERT_EQ(blobs.send(request_of("put1")).outcome(), "201");
      std::vector<std::string> outcomes(4);
      const std::string kWritten[] = {"put2", "put3", "put4", "metadata"};
      std::vector<Task<void>> tasks;
      const auto write = [&](size_t i) -> Task<void> {
        TestService::Apart apart(blobs.around.context);
        outcomes[i] = (co_await blobs.serve(apart.context, request_of(kWritten[i]))).outcome();
      };
      for (size_t i = 0; i < outcomes.size(); ++i) tasks.push_back(write(i));
      store::Interleaving(seed).run(std::move(tasks), [] {});
      EXPECT_EQ(outcomes, (std::vector<std::string>{"201", "201", "201", "200"}));
      const auto left = blobs.left();
      // With versions the metadata leaves one, too.
      EXPECT_EQ(left.heads, world.versions ? 5U : world.soft_delete ? 4U : 1U) << "seed " << seed;
      EXPECT_EQ(left.unnamed, 0U);
    }
  }
}

}  // namespace
}  // namespace kyanite::blob
