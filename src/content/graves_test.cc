#include "content/graves.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "content/test_support.h"

namespace kyanite::content {
namespace {

constexpr uint64_t kLeaves = 2 * kMaxLeavesPerCommit + 500;

// Counts what commits write, and can make one of them fail.
class CountingStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    largest = std::max(largest, commit.writes.size());
    if (commits++ == fails_at) co_return store::Error::kIo;
    co_return co_await MemoryStore::commit(std::move(commit));
  }
  size_t largest = 0;
  int commits = 0;
  int fails_at = -1;
};

// A page blob, say, with one write in each of its many leaves.
class Graves : public testing::Test {
 protected:
  Graves() {
    content_ = {.length = kLeaves * kGridBytes, .sparse = true};
    for (uint64_t i = 0; i < kLeaves; ++i) {
      store::Commit commit;
      const uint64_t at = i * kGridBytes;
      auto done = RunLoop::run(overwrite(store_, commit, kPlace, content_, at, 4,
                                         {inline_piece(at, std::to_string(1000 + i))}));
      EXPECT_TRUE(done.ok());
      EXPECT_TRUE(save(std::move(commit)).ok());
    }
    store_.largest = 0;
    store_.commits = 0;
  }

  store::Result<void> save(store::Commit commit) {
    auto next = store::record_of("version " + std::to_string(++versions_));
    commit.guards.push_back(head_);
    commit.put(kHeadKey, next);
    auto done = RunLoop::run(store_.commit(std::move(commit)));
    if (done) head_.expected = next;
    return done;
  }
  store::Result<Content> copy_to(store::Commit& commit) {
    const Deadline deadline(clock_, 30);
    return RunLoop::run(copy(store_, commit, kPlace, content_, kPlace, head_, deadline));
  }
  size_t count_graves() {
    size_t count = 0;
    const auto see = [&](const store::View::Cursor&) -> store::Result<bool> { return ++count > 0; };
    EXPECT_TRUE(
        RunLoop::run(store::scan(store_, store::Range::family(kPlace.space, kGraves), see)).ok());
    return count;
  }
  void clear(uint64_t most = UINT64_MAX) {
    jobs::Step step(store_, clock_, "account", {.changes = most});
    std::string key;
    EXPECT_TRUE(RunLoop::run(clear_graves(step, kPlace.space, key)).ok());
    EXPECT_LE(step.changed(), most);
  }
  std::string read(const Content& content, uint64_t leaf) {
    auto reader = RunLoop::run(Reader::open(store_, kPlace, content, leaf * kGridBytes, 4, head_));
    EXPECT_TRUE(reader.ok());
    return *drain(**reader);
  }

  CountingStore store_;
  ManualClock clock_{Time::from_unix_seconds(1'700'000'000)};
  Content content_;
  store::Guard head_{kHeadKey, nullptr};
  int versions_ = 0;
};

TEST_F(Graves, ManyLeavesAreCopiedInPortions) {
  store::Commit commit;
  const auto copied = copy_to(commit);
  ASSERT_TRUE(copied.ok());
  EXPECT_NE(copied->id, content_.id);
  ASSERT_TRUE(save(std::move(commit)).ok());
  EXPECT_LE(store_.largest, kMaxLeavesPerCommit + 2);
  EXPECT_GT(store_.commits, 3);
  EXPECT_EQ(count_graves(), 0u);
  EXPECT_EQ(count_leaves(store_), 2 * kLeaves);
  clock_.advance_seconds(1'000'000);
  clear();
  EXPECT_EQ(count_leaves(store_), 2 * kLeaves);
  for (const uint64_t leaf :
       {uint64_t{0}, kMaxLeavesPerCommit - 1, kMaxLeavesPerCommit, kLeaves - 1})
    EXPECT_EQ(read(*copied, leaf), std::to_string(1000 + leaf));
}

TEST_F(Graves, LeavesThatNobodyCameToNameGoAfterAWhile) {
  {
    store::Commit unused;
    ASSERT_TRUE(copy_to(unused).ok());
  }
  const size_t staged = count_leaves(store_) - kLeaves;
  EXPECT_EQ(staged, 2 * kMaxLeavesPerCommit);
  clear();
  EXPECT_EQ(count_leaves(store_), kLeaves + staged) << "it may still come";
  clock_.advance_seconds(30 + kDraftSeconds);
  clear(staged / 2);
  EXPECT_EQ(count_leaves(store_), kLeaves + staged / 2) << "in portions";
  clear();
  clear();
  EXPECT_EQ(count_leaves(store_), kLeaves);
  EXPECT_EQ(count_graves(), 0u);
}

TEST_F(Graves, WhoComesTooLateToNameThemCannot) {
  store::Commit late;
  ASSERT_TRUE(copy_to(late).ok());
  clock_.advance_seconds(30 + kDraftSeconds);
  clear(1);
  const auto saved = save(std::move(late));
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error(), store::Error::kConflict);
}

TEST_F(Graves, AFailedPortionEndsTheCopy) {
  store_.fails_at = 2;
  store::Commit commit;
  const auto copied = copy_to(commit);
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error(), store::Error::kIo);
  clock_.advance_seconds(30 + kDraftSeconds);
  clear();
  EXPECT_EQ(count_leaves(store_), kLeaves);
}

TEST_F(Graves, AChangeMeanwhileIsNoticed) {
  store::Commit change;
  ASSERT_TRUE(
      RunLoop::run(overwrite(store_, change, kPlace, content_, 0, 4, {inline_piece(0, "new!")}))
          .ok());
  const auto before = head_;
  ASSERT_TRUE(save(std::move(change)).ok());
  head_ = before;
  store::Commit commit;
  const auto copied = copy_to(commit);
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error(), store::Error::kConflict);
}

TEST_F(Graves, ManyLeavesAreRemovedLater) {
  store::Commit commit;
  ASSERT_TRUE(RunLoop::run(remove(store_, commit, kPlace, content_)).ok());
  EXPECT_EQ(commit.writes.size(), 1u);
  ASSERT_TRUE(save(std::move(commit)).ok());
  EXPECT_EQ(count_leaves(store_), kLeaves);
  clear();
  EXPECT_EQ(count_leaves(store_), 0u);
  EXPECT_EQ(count_graves(), 0u);
}

}  // namespace
}  // namespace kyanite::content
