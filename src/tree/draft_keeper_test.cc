// Storing what is old: in which order, and what goes on beside it.
#include "tree/draft_keeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <semaphore>

#include "tree/caching_test_support.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

// Whose drafts are taken one after the other, until there is none.
std::string taken(DraftTurns& turns, size_t most = SIZE_MAX, bool ends = true) {
  std::string order;
  for (size_t i = 0; i < most; ++i) {
    const auto next = turns.take();
    if (!next) break;
    order += std::to_string(next->session) + "." + std::to_string(next->file.id) + " ";
    if (ends) turns.done(*next);
  }
  return order;
}

std::vector<Drafts::Old> drafts_of(uint64_t session, uint64_t from, uint64_t to) {
  std::vector<Drafts::Old> drafts;
  for (uint64_t id = from; id <= to; ++id) drafts.push_back({{7, id}, session});
  return drafts;
}

std::vector<Drafts::Old> operator+(std::vector<Drafts::Old> some,
                                   const std::vector<Drafts::Old>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

TEST(DraftTurns, AreEachSessionsByTurns) {
  DraftTurns turns(2);
  EXPECT_EQ(taken(turns), "");
  turns.renew(drafts_of(5, 1, 4) + drafts_of(3, 8, 9) + drafts_of(9, 6, 6));
  EXPECT_EQ(taken(turns), "3.8 5.1 9.6 3.9 5.2 5.3 5.4 ");
}

TEST(DraftTurns, GoOnWhereTheyWereWhenThereIsMore) {
  DraftTurns turns(2);
  turns.renew(drafts_of(3, 1, 1000));
  EXPECT_EQ(taken(turns, 2), "3.1 3.2 ");
  turns.renew(drafts_of(3, 3, 1000) + drafts_of(5, 1, 1));
  EXPECT_EQ(taken(turns, 3), "5.1 3.3 3.4 ");
}

TEST(DraftTurns, AreLeftToOthersByWhomTheyTakeLong) {
  DraftTurns turns(2);
  turns.renew(drafts_of(3, 1, 1000));
  EXPECT_EQ(taken(turns, SIZE_MAX, false), "3.1 3.2 ");
  turns.renew(drafts_of(3, 3, 1000) + drafts_of(5, 1, 1));
  EXPECT_EQ(taken(turns, SIZE_MAX, false), "5.1 ");
  turns.done({{7, 1}, 3});
  EXPECT_EQ(taken(turns, SIZE_MAX, false), "3.3 ");
}

// Commits of files whose names begin with SLOW take until they are let go.
class SlowStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    bool slow = false;
    for (const auto& write : commit.writes)
      slow = slow || write.key.row().find("SLOW") != std::string_view::npos;
    if (slow && hangs) {
      ++hanging;
      hung.release();
      released.wait();
    }
    auto done = co_await MemoryStore::commit(std::move(commit));
    if (!slow && hangs) stored.release();
    co_return done;
  }
  std::atomic<bool> hangs{false};
  std::atomic<size_t> hanging{0};
  std::counting_semaphore<> hung{0};
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  std::counting_semaphore<> stored{0};
};

// As long as no working server takes.
constexpr std::chrono::seconds kLong{60};

class Keeping : public testing::Test {
 protected:
  Opened open(const std::string& name, uint64_t session) {
    HandleTree::Order order;
    order.session = session;
    return files_.open(name, order);
  }
  // An open waits for somebody who does not give back what he caches, until that takes too long.
  void begin_waiting() {
    FileOpen caches = file_open(kReadAccess | kWriteAccess, kFullAccess);
    caches.file = {8, 1};
    caches.ancestors.clear();
    FileOpen waits = caches;
    caches.caching.caching = caching("RWH");
    caches.caching.holder = std::make_shared<TestHolder>();
    caches.caching.lease = lease_name('a', '1');
    must_open(files_.open_files, caches);
    const auto run = [](Keeping& self, FileOpen asked) -> Task<void> {
      EXPECT_TRUE((co_await self.files_.open_files.open(std::move(asked))).ok());
      self.waited_.release();
    };
    detach(run(*this, std::move(waits)));
  }

  SlowStore store_;
  HandleTree files_{store_};
  std::binary_semaphore waited_{0};
};

TEST_F(Keeping, GoesOnForOthersWhileTheDraftsOfAClientTakeLong) {
  std::vector<Opened> slow;
  for (int i = 0; i < 50; ++i) {
    slow.push_back(open("slow" + std::to_string(i), 1));
    EXPECT_EQ(files_.write(slow.back(), 0, "x"), "ok");
  }
  Opened quick = open("quick", 2);
  begin_waiting();
  files_.clock.advance_seconds(10);
  store_.hangs = true;
  {
    DraftKeeper keeper(files_.open_files, files_.clock, kTicksPerSecond / 10);
    for (size_t i = 0; i < DraftKeeper::kStorersPerSession; ++i)
      EXPECT_TRUE(store_.hung.try_acquire_for(kLong)) << "several are stored at once";
    EXPECT_EQ(files_.write(quick, 0, "y"), "ok");
    files_.clock.advance_seconds(kBreakSeconds);
    EXPECT_TRUE(store_.stored.try_acquire_for(kLong)) << "another client's is stored";
    EXPECT_TRUE(waited_.try_acquire_for(kLong)) << "time passes";
    EXPECT_GE(store_.hanging, DraftKeeper::kStorersPerSession);
    store_.release.set_value();
  }
  EXPECT_EQ(files_.stored("quick"), "y");
  EXPECT_EQ(files_.stored("slow49"), "x");
  for (auto& each : slow) EXPECT_EQ(files_.close(each), "ok");
  EXPECT_EQ(files_.close(quick), "ok");
}

// Each of as many clients as there are storers has one that takes long.
TEST_F(Keeping, GoesOnWhileEverybodyHasADraftThatTakesLong) {
  std::vector<Opened> slow;
  for (uint64_t i = 0; i < DraftKeeper::kStorers + 2; ++i) {
    slow.push_back(open("slow" + std::to_string(i), i + 1));
    EXPECT_EQ(files_.write(slow.back(), 0, "x"), "ok");
  }
  files_.clock.advance_seconds(10);
  store_.hangs = true;
  {
    DraftKeeper keeper(files_.open_files, files_.clock, kTicksPerSecond / 10);
    for (size_t i = 0; i < DraftKeeper::kStorers; ++i)
      EXPECT_TRUE(store_.hung.try_acquire_for(kLong));
    Opened quick = open("quick", 100);
    EXPECT_EQ(files_.write(quick, 0, "y"), "ok");
    files_.clock.advance_seconds(DraftKeeper::kLongTicks / kTicksPerSecond);
    EXPECT_TRUE(store_.stored.try_acquire_for(kLong)) << "others take their place";
    for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(store_.hung.try_acquire_for(kLong));
    store_.release.set_value();
    EXPECT_EQ(files_.close(quick), "ok");
  }
  EXPECT_EQ(files_.stored("quick"), "y");
  EXPECT_EQ(files_.stored("slow9"), "x");
  for (auto& each : slow) EXPECT_EQ(files_.close(each), "ok");
}

}  // namespace
}  // namespace kyanite::tree
