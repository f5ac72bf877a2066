// What holds of shares and their snapshots when requests interleave in any way, without the lines
// in which writers wait.
#include <gtest/gtest.h>

#include <set>

#include "file/test_support.h"
#include "store/interleaving.h"

namespace kyanite::file {
namespace {

using Outcomes = std::vector<std::string>;

const TestService::Request kSnapshot{"PUT", "share", "restype=share&comp=snapshot"};
const TestService::Request kDelete{"DELETE", "share", "restype=share"};
constexpr uint64_t kSeeds = 150;

Task<void> answer(TestService& files, TestService::Request request, std::string& outcome) {
  store::KeyedLocks locks;
  const auto& like = files.around.context;
  service::Context apart{like.store, locks, like.workers, like.clock, like.accounts, like.settings};
  outcome = (co_await files.serve(apart, std::move(request))).outcome();
}

Outcomes race(TestService& files, uint64_t seed,
              const std::vector<TestService::Request>& requests) {
  Outcomes outcomes(requests.size());
  std::vector<Task<void>> tasks;
  for (size_t i = 0; i < requests.size(); ++i)
    tasks.push_back(answer(files, requests[i], outcomes[i]));
  store::Interleaving(seed).run(std::move(tasks), [] {});
  return outcomes;
}

TEST(ShareRaces, AShareIsNotDeletedFromUnderASnapshot) {
  std::set<Outcomes> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    store::InterleavedStore store;
    TestService files(store);
    ASSERT_EQ(files.make_share("share").outcome(), "201");
    seen.insert(race(files, seed, {kSnapshot, kDelete}));
  }
  EXPECT_EQ(seen,
            (std::set<Outcomes>{{"201", "409 ShareHasSnapshots"}, {"404 ShareNotFound", "202"}}));
}

TEST(ShareRaces, NorFromUnderTheLeaseOfASnapshot) {
  std::set<Outcomes> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    store::InterleavedStore store;
    TestService files(store);
    ASSERT_EQ(files.make_share("share").outcome(), "201");
    const std::string snapshot = files.snapshot("share");
    const TestService::Request lease{
        "PUT",
        "share",
        "restype=share&comp=lease&sharesnapshot=" + snapshot,
        {{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "-1"}}};
    TestService::Request all = kDelete;
    all.headers.emplace_back("x-ms-delete-snapshots", "include");
    seen.insert(race(files, seed, {lease, all}));
  }
  EXPECT_EQ(seen, (std::set<Outcomes>{{"201", "409 DeleteShareWhenSnapshotLeased"},
                                      {"404 ShareNotFound", "202"}}));
}

TEST(ShareRaces, SnapshotsAndDeletionsGoOnAfterOneThatWasWithdrawn) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    store::InterleavedStore store;
    TestService files(store);
    ASSERT_EQ(files.make_share("share").outcome(), "201");
    ASSERT_EQ(files.make_file("share/file").outcome(), "201");
    const auto outcomes = race(files, seed, {kSnapshot, kDelete, kSnapshot, kDelete});
    const bool deleted = outcomes[1] == "202" || outcomes[3] == "202";
    for (const size_t i : {0, 2}) EXPECT_EQ(outcomes[i], deleted ? "404 ShareNotFound" : "201");
    EXPECT_EQ(files.send("HEAD", "share/file").status, deleted ? 404 : 200);
    if (deleted) continue;
    for (const size_t i : {1, 3}) EXPECT_EQ(outcomes[i], "409 ShareHasSnapshots");
    TestService::Request all = kDelete;
    all.headers.emplace_back("x-ms-delete-snapshots", "include");
    EXPECT_EQ(race(files, seed, {all}), Outcomes{"202"});
  }
}

}  // namespace
}  // namespace kyanite::file
