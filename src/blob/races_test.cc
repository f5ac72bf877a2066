// What holds of a blob, its snapshots and its versions when requests interleave in any way, without
// the lines in which writers of one blob wait, and when the clock is set back.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/overdue_blobs.h"
#include "blob/test_support.h"
#include "jobs/test_support.h"
#include "store/interleaving.h"
#include "wire/query.h"

namespace kyanite::blob {
namespace {

using Request = TestService::Request;

const Request kSnapshot{"PUT", "box/blob", "comp=snapshot"};
const Request kDelete{"DELETE", "box/blob"};
const Request kBlockList{
    "PUT", "box/blob", "comp=blocklist", {}, "<BlockList><Latest>YQ==</Latest></BlockList>"};

Request put_page(const std::string& bytes) {
  return {"PUT",
          "box/blob",
          "comp=page",
          {{"x-ms-page-write", "update"}, {"x-ms-range", "bytes=0-511"}},
          std::string(512, bytes.front())};
}

struct Race {
  explicit Race(bool versioning = false) {
    service::AccountSettings settings;
    settings.blob_versioning = versioning;
    blobs.around.context.settings = service::SettingsTable(settings);
    EXPECT_EQ(blobs.make_container("box").outcome(), "201");
  }

  // What the requests are answered, all begun at once, beside what else there is.
  std::vector<std::string> run(uint64_t seed, const std::vector<Request>& requests,
                               std::vector<Task<void>> tasks = {}) {
    std::vector<std::string> outcomes(requests.size());
    for (size_t i = 0; i < requests.size(); ++i) tasks.push_back(answer(requests[i], outcomes[i]));
    store::Interleaving(seed).run(std::move(tasks), [] {});
    return outcomes;
  }
  TestService::Left left() { return blobs.left(); }
  std::string block_rows() { return blobs.left().blocks; }
  Task<void> remove_overdue() {
    const jobs::Job job = remove_overdue_job();
    co_await jobs::run_round(job, store, blobs.around.clock);
  }

  store::InterleavedStore store;
  TestService blobs{store};

 private:
  Task<void> answer(Request request, std::string& outcome) {
    TestService::Apart apart(blobs.around.context);
    outcome = (co_await blobs.serve(apart.context, std::move(request))).outcome();
  }
};

constexpr uint64_t kSeeds = 100;
TEST(BlobRaces, ANameIsNotTakenWhileADeletionKeepsIt) {
  const Request create{"PUT", "name", "restype=container"};
  const Request remove{"DELETE", "name", "restype=container"};
  std::set<size_t> created;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    service::AccountSettings settings;
    settings.deletion_window_s = 30;
    race.blobs.around.context.settings = service::SettingsTable(settings);
    const auto outcomes = race.run(seed, {create, remove, create, create, remove});
    const auto count = [&](std::string_view outcome) {
      return static_cast<size_t>(std::count(outcomes.begin(), outcomes.end(), outcome));
    };
    // The clock stands still, so that what is deleted keeps its name to the end.
    EXPECT_EQ(count("201"), 1U) << "seed " << seed;
    EXPECT_LE(count("202"), 1U);
    created.insert(count("202"));
    race.blobs.around.clock.advance_seconds(31);
    const bool deleted = count("202") > 0;
    EXPECT_EQ(race.blobs.send(create).outcome(), deleted ? "201" : "409 ContainerAlreadyExists");
  }
  EXPECT_EQ(created, (std::set<size_t>{0, 1}));
}

constexpr int64_t kBlockLifeSeconds = 7 * 24 * 3600;

Request put_block(const std::string& id) {
  return {"PUT", "box/blob", "comp=block&blockid=" + wire::percent_encode(base64(id)), {}, "x"};
}

TEST(BlobRaces, BlocksStagedMeanwhileKeepTheirMark) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const Request& request : {TestService::put("box/blob"), kBlockList, kDelete}) {
      Race race;
      ASSERT_EQ(race.blobs.send(put_block("a")).outcome(), "201");
      EXPECT_EQ(race.run(seed, {put_block("b"), request}).front(), "201");
      seen.insert(race.block_rows());
      // Whoever replaces the blob now finds all there is.
      ASSERT_EQ(race.blobs.send(TestService::put("box/blob")).outcome(), "201");
      EXPECT_EQ(race.block_rows(), " ") << "seed " << seed;
      RunLoop::run(race.remove_overdue());
      EXPECT_EQ(race.block_rows(), "");
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{" ", " b "}));
}

TEST(BlobRaces, ALeaseOfBlocksStagedMeanwhileIsNotLost) {
  const Request lease{"PUT",
                      "box/blob",
                      "comp=lease",
                      {{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "-1"}}};
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 10 * kSeeds; ++seed) {
    Race race;
    const auto outcomes = race.run(seed, {TestService::put("box/blob"), put_block("a"), lease});
    if (outcomes[2] != "201") continue;
    seen.insert(outcomes[0]);
    const Answer after = race.blobs.send({"HEAD", "box/blob"});
    if (outcomes[0] == "201") {
      EXPECT_EQ(after.header("x-ms-lease-state"), "leased") << "seed " << seed;
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"201", "412 LeaseIdMissing"}));
}

TEST(BlobRaces, TheMarkGoesWithTheLastBlock) {
  const Request list{"GET", "box", "restype=container&comp=list&include=uncommittedblobs"};
  const auto is_listed = [&](Race& race) {
    return race.blobs.send(list).body.find("<Name>blob</Name>") != std::string::npos;
  };
  Race race;
  ASSERT_EQ(race.blobs.send(put_block("a")).outcome(), "201");
  ASSERT_EQ(race.blobs.send(put_block("bb")).outcome(), "400 InvalidBlobOrBlock");
  EXPECT_TRUE(is_listed(race));
  race.blobs.around.clock.advance_seconds(kBlockLifeSeconds);
  RunLoop::run(race.remove_overdue());
  EXPECT_EQ(race.block_rows(), " ");
  EXPECT_FALSE(is_listed(race));
  // Ids may be longer now.
  ASSERT_EQ(race.blobs.send(put_block("bb")).outcome(), "201");
  EXPECT_EQ(race.block_rows(), " bb ");
  race.blobs.around.clock.advance_seconds(kBlockLifeSeconds + 1);
  for (int i = 0; i < 3; ++i) RunLoop::run(race.remove_overdue());
  EXPECT_EQ(race.block_rows(), "");
}

TEST(BlobRaces, TheMarkOfBlocksStagedMeanwhileStays) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    ASSERT_EQ(race.blobs.send(put_block("a")).outcome(), "201");
    race.blobs.around.clock.advance_seconds(kBlockLifeSeconds);
    std::vector<Task<void>> rounds;
    for (int i = 0; i < 3; ++i) rounds.push_back(race.remove_overdue());
    const auto outcomes =
        race.run(seed, {put_block("b"), put_block("cc"), put_block("d")}, std::move(rounds));
    const bool is_short = outcomes[0] == "201";
    EXPECT_EQ(outcomes[1], is_short ? "400 InvalidBlobOrBlock" : "201") << "seed " << seed;
    EXPECT_EQ(outcomes[2], outcomes[0]);
    // The first may not be gone yet.
    const std::string rows = race.block_rows();
    const std::string staged = is_short ? "b d " : "cc ";
    EXPECT_TRUE(rows == " " + staged || rows == " a " + staged) << rows;
  }
}

TEST(BlobRaces, ABlobIsNotDeletedFromUnderASnapshot) {
  std::set<std::vector<std::string>> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    ASSERT_EQ(race.blobs.send(TestService::put("box/blob")).outcome(), "201");
    // So that its content counts as shared already, and the head need not change for that.
    ASSERT_EQ(race.blobs.send(kSnapshot).outcome(), "201");
    ASSERT_EQ(
        race.blobs.send({"DELETE", "box/blob", {}, {{"x-ms-delete-snapshots", "only"}}}).outcome(),
        "202");
    const auto outcomes = race.run(seed, {kSnapshot, kDelete});
    seen.insert(outcomes);
    EXPECT_EQ(race.left().unnamed, 0U);
  }
  EXPECT_EQ(seen, (std::set<std::vector<std::string>>{{"201", "409 SnapshotsPresent"},
                                                      {"404 BlobNotFound", "202"}}));
}

TEST(BlobRaces, ContentGoesWithTheLastThatNamesIt) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    ASSERT_EQ(race.blobs.send(TestService::put("box/blob")).outcome(), "201");
    const auto taken = race.blobs.send(kSnapshot);
    const Request gone{"DELETE", "box/blob", "snapshot=" + taken.header("x-ms-snapshot")};
    const auto outcomes =
        race.run(seed, {gone, TestService::put("box/blob", {}, "y"), TestService::put("box/blob")});
    EXPECT_EQ(outcomes, (std::vector<std::string>{"202", "201", "201"}));
    EXPECT_EQ(race.left().heads, 1U);
    EXPECT_EQ(race.left().unnamed, 0U) << "seed " << seed;
  }
}

TEST(BlobRaces, SnapshotsOfOneInstantAreAllThere) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race(seed % 2 == 0);
    ASSERT_EQ(race.blobs.send(TestService::put("box/blob")).outcome(), "201");
    const auto outcomes = race.run(seed, {kSnapshot, kSnapshot, kSnapshot});
    EXPECT_EQ(outcomes, (std::vector<std::string>{"201", "201", "201"}));
    // With versions, each snapshot makes one as well.
    EXPECT_EQ(race.left().heads, seed % 2 == 0 ? 7U : 4U);
  }
}

TEST(BlobRaces, ADecisionThatMeetsAConflictIsMadeAgain) {
  // The list of pieces of a page blob is copied for its version and for its snapshot.
  const Request page{
      "PUT", "box/blob", {}, {{"x-ms-blob-type", "PageBlob"}, {"x-ms-blob-content-length", "512"}}};
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race(true);
    ASSERT_EQ(race.blobs.send(page).outcome(), "201");
    ASSERT_EQ(race.blobs.send(put_page("a")).outcome(), "201");
    const Request metadata{"PUT", "box/blob", "comp=metadata", {{"x-ms-meta-a", "b"}}};
    const Request ranges{"GET", "box/blob", "comp=pagelist"};
    const auto outcomes =
        race.run(seed, {kSnapshot, put_page("b"), metadata, put_page("c"), ranges});
    EXPECT_EQ(outcomes, (std::vector<std::string>{"201", "201", "200", "201", "200"}));
    EXPECT_EQ(race.left().unnamed, 0U);
  }
  // The committed blocks are those of the blob that is replaced.
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Race race;
    const Request block{"PUT", "box/blob", "comp=block&blockid=YQ%3D%3D", {}, "x"};
    ASSERT_EQ(race.blobs.send(block).outcome(), "201");
    ASSERT_EQ(race.blobs.send(kBlockList).outcome(), "201");
    EXPECT_EQ(race.run(seed, {kBlockList, kBlockList, kBlockList}),
              (std::vector<std::string>{"201", "201", "201"}));
    EXPECT_EQ(race.left().unnamed, 0U);
  }
}

TEST(BlobRaces, NothingTakesThePlaceOfWhatIsKept) {
  // The clock stands still, so all of these have the same instant.
  Race race(true);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(race.blobs.send(TestService::put("box/blob")).outcome(), "201");
    ASSERT_EQ(race.blobs.send(TestService::put("box/blob")).outcome(), "201");
    ASSERT_EQ(race.blobs.send(kDelete).outcome(), "202");
  }
  EXPECT_EQ(race.left().heads, 6U);
  // Deletions of containers that can be restored likewise.
  service::AccountSettings settings;
  settings.container_retention_days = 7;
  race.blobs.around.context.settings = service::SettingsTable(settings);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(race.blobs.send({"DELETE", "box", "restype=container"}).outcome(), "202");
    ASSERT_EQ(race.blobs.make_container("box").outcome(), "201");
  }
  const auto list = race.blobs.send({"GET", "", "comp=list&include=deleted"});
  size_t deleted = 0;
  for (size_t at = 0; (at = list.body.find("<Deleted>", at)) != std::string::npos; ++at) ++deleted;
  EXPECT_EQ(deleted, 3U);
}

TEST(BlobRaces, ThePlaceOfWhatIsKeptIsSoughtNoLongerThanTheRequestMayTake) {
  Race race(true);
  service::TestCall late(race.blobs.around);
  late.call.deadline = Deadline(race.blobs.around.clock, 0);
  const auto sought =
      RunLoop::run(free_instant(late.call, Place(1, "blob"), version_row, late.call.now));
  ASSERT_FALSE(sought.ok());
  EXPECT_EQ(sought.error().code, wire::Code::kOperationTimedOut);
}

TEST(BlobRaces, SoftDeletedStatesOfOneInstantAreAllThere) {
  Race race;
  ASSERT_EQ(race.blobs.keep_deleted().outcome(), "202");
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(race.blobs.send(TestService::put("box/blob")).outcome(), "201");
    ASSERT_EQ(race.blobs.send(TestService::put("box/blob")).outcome(), "201");
    ASSERT_EQ(race.blobs.send(kDelete).outcome(), "202");
  }
  EXPECT_EQ(race.left().heads, 6U);
}

}  // namespace
}  // namespace kyanite::blob
