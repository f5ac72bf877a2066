// What holds of shares and their snapshots when requests interleave in any way, without the lines
// in which writers wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "file/share.h"
#include "file/test_support.h"
#include "jobs/test_support.h"
#include "lifetime/directory.h"
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

// Of a commit that removes something nobody knows whether it was done.
class DoubtfulStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    const bool removes = std::any_of(commit.writes.begin(), commit.writes.end(),
                                     [](const auto& write) { return write.record == nullptr; });
    if (!removes || !doubts) co_return co_await MemoryStore::commit(std::move(commit));
    if (*doubts) (void)(co_await MemoryStore::commit(std::move(commit))).ok();
    co_return store::Error::kUnknown;
  }
  std::optional<bool> doubts;  // True: it was.
};

TEST(SharesInDoubt, AreEndedForTheirClientsOnceTheyAreFoundDead) {
  for (const bool deleted : {false, true}) {
    DoubtfulStore store;
    TestService files(store);
    ASSERT_EQ(files.make_share("share").outcome(), "201");
    ASSERT_EQ(files.make_file("share/file").outcome(), "201");
    tree::OpenFiles& table = files.service.open_files();
    const auto loaded = RunLoop::run(store.get(
        store::Key(lifetime::directory_space("account"), lifetime::kSharesFamily, "share")));
    ASSERT_TRUE(loaded.ok() && *loaded != nullptr);
    tree::FileOpen open;
    open.file = {store::decode<Share>((*loaded)->value)->space, 5};
    open.mode = {concurrency::kReadAccess, concurrency::kReadAccess};
    const auto opened = RunLoop::run(table.open(open));
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(table.deletions(), table.deletions());
    store.doubts = deleted;
    EXPECT_EQ(files.send("DELETE", "share", "restype=share").status, 500);
    store.doubts.reset();
    EXPECT_NE(table.deletions(), table.deletions()) << "each time it is looked for";
    EXPECT_FALSE(table.list(open.file, false, 0, 1).empty()) << "it may be there";
    EXPECT_EQ(files.send("HEAD", "share/file").status, deleted ? 404 : 200);
    for (const jobs::Job& job : files.service.make_jobs(files.around.context)) {
      if (job.name == "dead-shares") RunLoop::run(jobs::run_round(job, store, files.around.clock));
    }
    EXPECT_EQ(table.list(open.file, false, 0, 1).empty(), deleted);
  }
}

}  // namespace
}  // namespace kyanite::file
