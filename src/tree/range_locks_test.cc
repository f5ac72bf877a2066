// Byte-range locks in the open-file table.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tree/open_files.h"
#include "tree/open_files_test_support.h"

namespace kyanite::tree {
namespace {

TEST(RangeLocks, AnyLockStopsPutRange) {
  OpenFiles table;
  const HandleId handle = must_open(table, file_open(kFullAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.lock(handle, {{{1000, 1}, false}})).ok());
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), Refusal::kLockConflict);
  EXPECT_EQ(verdict(table, FileOperation::kGetFile), std::nullopt);
  ASSERT_TRUE(table.unlock(handle, {1000, 1}).ok());
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), std::nullopt);
  ASSERT_TRUE(RunLoop::run(table.lock(handle, {{{0, 1}, true}})).ok());
  ASSERT_TRUE(table.close(handle).ok());
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), std::nullopt);
}

TEST(RangeLocks, LocksAgainstLocks) {
  constexpr uint64_t kEnd = UINT64_MAX;
  struct Row {
    RangeLock held, asked;
    bool same_handle;
    bool granted;
  };
  const Row rows[] = {
      {{{0, 10}, true}, {{10, 10}, true}, false, true},
      {{{0, 10}, true}, {{9, 1}, true}, false, false},
      {{{0, 10}, true}, {{9, 1}, false}, false, false},
      {{{0, 10}, false}, {{0, 10}, false}, false, true},
      {{{0, 10}, false}, {{0, 10}, true}, false, false},
      // A holder may put a shared lock over its own exclusive one, and nothing else.
      {{{0, 10}, true}, {{0, 10}, false}, true, true},
      {{{0, 10}, true}, {{0, 10}, true}, true, false},
      {{{0, 10}, false}, {{0, 10}, true}, true, false},
      // To the largest offset and beyond.
      {{{kEnd, 1}, true}, {{kEnd, 1}, true}, false, false},
      {{{5, kEnd}, true}, {{kEnd, 1}, true}, false, false},
      // No bytes: between two.
      {{{0, 10}, true}, {{5, 0}, true}, false, false},
      {{{0, 10}, true}, {{0, 0}, true}, false, true},
      {{{0, 10}, true}, {{10, 0}, true}, false, true},
      {{{5, 0}, true}, {{5, 0}, true}, false, true},
      {{{5, 0}, true}, {{4, 2}, true}, false, false},
  };
  for (const Row& row : rows) {
    OpenFiles table;
    const HandleId first = must_open(table, file_open(kReadAccess, kFullAccess));
    const HandleId second = must_open(table, file_open(kReadAccess, kFullAccess));
    ASSERT_TRUE(RunLoop::run(table.lock(first, {row.held})).ok());
    const auto locked = RunLoop::run(table.lock(row.same_handle ? first : second, {row.asked}));
    EXPECT_EQ(locked.ok(), row.granted) << &row - rows;
  }
}

TEST(RangeLocks, LocksComeAllOrNone) {
  OpenFiles table;
  const HandleId first = must_open(table, file_open(kReadAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kReadAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.lock(first, {{{20, 1}, true}})).ok());
  const auto refused = RunLoop::run(table.lock(second, {{{0, 1}, true}, {{20, 1}, true}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), Refusal::kLockConflict);
  EXPECT_TRUE(RunLoop::run(table.lock(first, {{{0, 1}, true}})).ok());
  EXPECT_EQ(table.unlock(second, {0, 1}).error(), Refusal::kRangeNotLocked);
  EXPECT_EQ(table.unlock(first, {0, 2}).error(), Refusal::kRangeNotLocked);

  const HandleId attributes = must_open(table, file_open(kNoAccess, kFullAccess));
  EXPECT_EQ(RunLoop::run(table.lock(attributes, {{{0, 1}, false}})).error(),
            Refusal::kAccessDenied);
}

TEST(RangeLocks, AreGivenBackOneAfterTheOther) {
  OpenFiles table;
  const HandleId first = must_open(table, file_open(kFullAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kFullAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.lock(first, {{{0, 1}, true}, {{5, 1}, true}})).ok());
  const std::vector<ByteRange> ranges{{0, 1}, {7, 1}, {5, 1}};
  EXPECT_EQ(table.unlock(first, ranges).error(), Refusal::kRangeNotLocked);
  EXPECT_TRUE(RunLoop::run(table.lock(second, {{{0, 1}, true}})).ok());
  EXPECT_EQ(RunLoop::run(table.lock(second, {{{5, 1}, true}})).error(), Refusal::kLockConflict);
}

TEST(RangeLocks, LocksAgainstReadsAndWrites) {
  OpenFiles table;
  const HandleId holder = must_open(table, file_open(kFullAccess, kFullAccess));
  const HandleId other = must_open(table, file_open(kFullAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.lock(holder, {{{0, 10}, true}, {{20, 10}, false}})).ok());
  struct Row {
    HandleId handle;
    ByteRange range;
    bool write;
    bool passes;
  };
  const Row rows[] = {
      {holder, {0, 10}, true, true},   {holder, {0, 10}, false, true},
      {other, {9, 1}, false, false},   {other, {9, 1}, true, false},
      {other, {10, 10}, true, true},   {other, {20, 10}, false, true},
      {other, {20, 10}, true, false},  {holder, {20, 10}, false, true},
      {holder, {20, 10}, true, false}, {other, {5, 0}, true, true},
  };
  for (const Row& row : rows)
    EXPECT_EQ(table.check_io(row.handle, row.range, row.write).ok(), row.passes) << &row - rows;
}

// --- Locks that wait ---

struct Locking {
  std::optional<kyanite::Result<void, Refusal>> result;
  bool waits = false;  // It was told so.
};
std::shared_ptr<Locking> begin_lock(OpenFiles& table, HandleId handle, RangeLock lock,
                                    uint64_t ticket) {
  auto locking = std::make_shared<Locking>();
  const auto run = [](OpenFiles& files, HandleId of, RangeLock asked, uint64_t as,
                      std::shared_ptr<Locking> out) -> Task<void> {
    const std::function<void()> waits = [&] { out->waits = true; };
    out->result.emplace(co_await files.lock_when_free(of, asked, as, waits));
  };
  detach(run(table, handle, lock, ticket, locking));
  return locking;
}

TEST(RangeLocks, WaitInOrder) {
  OpenFiles table;
  const HandleId first = must_open(table, file_open(kFullAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kFullAccess, kFullAccess));
  const HandleId third = must_open(table, file_open(kFullAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.lock(first, {{{0, 10}, true}})).ok());
  const auto one = begin_lock(table, second, {{5, 10}, true}, 1);
  const auto two = begin_lock(table, third, {{9, 1}, true}, 2);
  const auto free = begin_lock(table, third, {{20, 1}, true}, 3);
  EXPECT_FALSE(one->result);
  EXPECT_FALSE(two->result);
  EXPECT_TRUE(free->result && free->result->ok());
  ASSERT_TRUE(table.unlock(first, {0, 10}).ok());
  EXPECT_TRUE(one->result && one->result->ok());
  EXPECT_FALSE(two->result) << "who came first has it now";
  ASSERT_TRUE(table.close(second).ok());
  EXPECT_TRUE(two->result && two->result->ok()) << "closing frees ranges";
}

TEST(RangeLocks, WaitingEnds) {
  OpenFiles table;
  const HandleId first = must_open(table, file_open(kFullAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kFullAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.lock(first, {{{0, 10}, true}})).ok());
  const auto cancelled = begin_lock(table, second, {{0, 1}, false}, 1);
  const auto closed = begin_lock(table, second, {{0, 1}, false}, 2);
  table.cancel_lock(second, 1);
  ASSERT_TRUE(cancelled->result);
  EXPECT_EQ(cancelled->result->error(), Refusal::kCancelled);
  EXPECT_FALSE(closed->result);
  ASSERT_TRUE(table.close(second).ok());
  ASSERT_TRUE(closed->result);
  EXPECT_EQ(closed->result->error(), Refusal::kRangeNotLocked);
  // Nothing of them is left.
  ASSERT_TRUE(table.unlock(first, {0, 10}).ok());
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), std::nullopt);
}

// A cancellation that comes before finds nothing to cancel: who waits is told when it would.
TEST(RangeLocks, WhoWaitsForOthersIsToldWhenThatBegins) {
  OpenFiles table;
  const HandleId first = must_open(table, file_open(kFullAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kFullAccess, kFullAccess));
  auto writing = table.admit(kFileKey, FileOperation::kPutRange);
  ASSERT_TRUE(writing.ok());
  const auto taking = begin_lock(table, first, {{0, 10}, true}, 1);
  const auto waiting = begin_lock(table, second, {{0, 10}, true}, 2);
  table.cancel_lock(second, 2);
  EXPECT_FALSE(taking->waits || waiting->waits) << "REST is soon done";
  *writing = {};
  EXPECT_TRUE(taking->result && taking->result->ok());
  EXPECT_FALSE(taking->waits);
  EXPECT_TRUE(waiting->waits);
  EXPECT_FALSE(waiting->result);
  table.cancel_lock(second, 2);
  ASSERT_TRUE(waiting->result);
  EXPECT_EQ(waiting->result->error(), Refusal::kCancelled);
}

TEST(RangeLocks, SoManyAreHeldAndNoMore) {
  OpenFiles table;
  const HandleId first = must_open(table, file_open(kFullAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kFullAccess, kFullAccess));
  std::vector<RangeLock> locks;
  for (uint64_t i = 0; i < kMaxLocksPerFile; ++i) locks.push_back({{i, 1}, false});
  ASSERT_TRUE(RunLoop::run(table.lock(first, locks)).ok());
  const RangeLock one_more{{kMaxLocksPerFile, 1}, false};
  EXPECT_EQ(RunLoop::run(table.lock(second, {one_more})).error(), Refusal::kTooManyLocks);
  const auto waiting = begin_lock(table, second, one_more, 1);
  ASSERT_TRUE(waiting->result) << "for what";
  EXPECT_EQ(waiting->result->error(), Refusal::kTooManyLocks);
  ASSERT_TRUE(table.unlock(first, {0, 1}).ok());
  EXPECT_EQ(RunLoop::run(table.lock(second, {one_more, one_more})).error(), Refusal::kTooManyLocks);
  EXPECT_TRUE(RunLoop::run(table.lock(second, {one_more})).ok());
}

// As many as there may be wait for one lock, while as many others as there may be are given back.
// If those who wait were compared with all of them each time, this would take minutes.
TEST(RangeLocks, GivingThemBackIsFastWhoeverWaits) {
  OpenFiles table;
  const HandleId first = must_open(table, file_open(kFullAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kFullAccess, kFullAccess));
  std::vector<RangeLock> locks;
  for (uint64_t i = 0; i + 1 < kMaxLocksPerFile / 2; ++i) locks.push_back({{i, 1}, false});
  const ByteRange last{kMaxLocksPerFile, 1};
  ASSERT_TRUE(RunLoop::run(table.lock(first, locks)).ok());
  ASSERT_TRUE(RunLoop::run(table.lock(first, {{last, true}})).ok());
  std::vector<std::shared_ptr<Locking>> waiting;
  for (size_t i = 0; i < kMaxWaitingLocks; ++i)
    waiting.push_back(begin_lock(table, second, {{0, UINT64_MAX}, false}, i));
  const auto began = std::chrono::steady_clock::now();
  for (const RangeLock& each : locks) ASSERT_TRUE(table.unlock(first, each.range).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
  for (const auto& each : waiting) EXPECT_FALSE(each->result);
  ASSERT_TRUE(table.unlock(first, last).ok());
  for (const auto& each : waiting) EXPECT_TRUE(each->result && each->result->ok());
}

TEST(RangeLocks, WhoWaitsGetsItWhenNothingIsInTheWay) {
  OpenFiles table;
  const HandleId first = must_open(table, file_open(kFullAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kFullAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.lock(first, {{{0, 1}, true}, {{1, 1}, true}})).ok());
  const auto waits = begin_lock(table, second, {{0, 4}, true}, 1);
  // What comes after it has begun to wait is in the way as well.
  ASSERT_TRUE(RunLoop::run(table.lock(first, {{{2, 1}, true}})).ok());
  ASSERT_TRUE(table.unlock(first, {1, 1}).ok());
  EXPECT_FALSE(waits->result);
  ASSERT_TRUE(table.unlock(first, {0, 1}).ok());
  EXPECT_FALSE(waits->result);
  ASSERT_TRUE(table.unlock(first, {2, 1}).ok());
  ASSERT_TRUE(waits->result);
  EXPECT_TRUE(waits->result->ok());
}

TEST(RangeLocks, SoManyWaitAndNoMore) {
  OpenFiles table;
  const HandleId first = must_open(table, file_open(kFullAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kFullAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.lock(first, {{{0, 10}, true}})).ok());
  std::vector<std::shared_ptr<Locking>> waiting;
  for (size_t i = 0; i < kMaxWaitingLocks; ++i)
    waiting.push_back(begin_lock(table, second, {{0, 1}, false}, i));
  const auto refused = begin_lock(table, second, {{0, 1}, false}, 5);
  ASSERT_TRUE(refused->result);
  EXPECT_EQ(refused->result->error(), Refusal::kTooManyWaiting);
  ASSERT_TRUE(table.close(first).ok());
  for (const auto& each : waiting) EXPECT_TRUE(each->result && each->result->ok());
}

}  // namespace
}  // namespace kyanite::tree
