// Who waits for operations in flight has its turn before those that come later.
#include <gtest/gtest.h>

#include "base/started.h"
#include "tree/caching_test_support.h"

namespace kyanite::tree {
namespace {

class Precedences : public CachingTest {
 protected:
  // One operation ends, another has come before: without turns there is always one in flight.
  std::optional<OpenFiles::Admission> begin(FileOperation operation, FileKey key = kFileKey) {
    auto admission = table.admit(key, operation);
    EXPECT_TRUE(admission.ok());
    return admission ? std::optional(std::move(*admission)) : std::nullopt;
  }
};

TEST_F(Precedences, LetALockComeBeforeTheNextWrite) {
  const HandleId handle = must_open(table, file_open(kFullAccess, kFullAccess));
  auto writing = begin(FileOperation::kPutRange);
  Started locking(table.lock(handle, {{{0, 1}, true}}));
  Started waiting(table.lock_when_free(handle, {{5, 1}, true}, 1, [] {}));
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), Refusal::kCached);
  Started next(table.given_back(kFileKey, {}));
  // Nobody else waits for it.
  EXPECT_EQ(verdict(table, FileOperation::kSetFileMetadata), std::nullopt);
  OpenFiles::Awaited awaited;
  EXPECT_TRUE(table.admit_reader(kFileKey, FileOperation::kGetFile, {0, 1}, awaited).ok());
  EXPECT_FALSE(locking.is_done() || waiting.is_done() || next.is_done());
  writing.reset();
  EXPECT_TRUE(RunLoop::run(locking.join()).ok());
  EXPECT_TRUE(RunLoop::run(waiting.join()).ok());
  EXPECT_TRUE(RunLoop::run(next.join()).ok());
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), Refusal::kLockConflict);
  ASSERT_TRUE(table.close(handle).ok());
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), std::nullopt);
}

TEST_F(Precedences, AreNotKeptByWhoWaitsForAnotherLock) {
  const HandleId first = must_open(table, file_open(kFullAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kFullAccess, kFullAccess));
  auto writing = begin(FileOperation::kPutRange);
  Started locking(table.lock(first, {{{0, 1}, true}}));
  Started waiting(table.lock_when_free(second, {{0, 1}, true}, 1, [] {}));
  writing.reset();
  EXPECT_TRUE(RunLoop::run(locking.join()).ok());
  EXPECT_FALSE(waiting.is_done());
  Started other(table.given_back(kFileKey, {}));
  EXPECT_TRUE(other.is_done());
  EXPECT_TRUE(RunLoop::run(other.join()).ok());
  ASSERT_TRUE(table.close(first).ok());
  EXPECT_TRUE(RunLoop::run(waiting.join()).ok());
}

TEST_F(Precedences, LetAMarkComeBeforeTheNextCreation) {
  const HandleId handle = must_open(table, directory_open(kDeleteAccess, kFullAccess));
  auto creating = begin(FileOperation::kListFiles, kDirectoryKey);
  Started marking(table.set_delete_pending(handle, true));
  EXPECT_EQ(verdict(table, FileOperation::kListFiles, kDirectoryKey), Refusal::kCached);
  creating.reset();
  EXPECT_TRUE(RunLoop::run(marking.join()).ok());
  EXPECT_EQ(verdict(table, FileOperation::kListFiles, kDirectoryKey), Refusal::kDeletePending);
}

TEST_F(Precedences, LetARenameComeBeforeTheNextCreation) {
  const HandleId handle = must_open(table, directory_open(kDeleteAccess, kFullAccess));
  auto creating = begin(FileOperation::kListFiles, kDirectoryKey);
  auto another = begin(FileOperation::kListFiles, kDirectoryKey);
  OpenFiles::Precedence precedence;
  const auto ask = [&] { return table.admit_rename_by(handle, true, precedence); };
  EXPECT_EQ(ask().error(), Error(Refusal::kCached));
  EXPECT_EQ(verdict(table, FileOperation::kListFiles, kDirectoryKey), Refusal::kCached);
  Started soon(table.given_back(kDirectoryKey, {}, handle));
  Started next(table.given_back(kDirectoryKey, {}));
  another.reset();
  EXPECT_FALSE(soon.is_done()) << "it would have to wait again";
  creating.reset();
  EXPECT_TRUE(RunLoop::run(soon.join()).ok());
  EXPECT_FALSE(next.is_done());
  auto moving = ask();
  ASSERT_TRUE(moving.ok());
  EXPECT_TRUE(RunLoop::run(next.join()).ok());
  EXPECT_EQ(verdict(table, FileOperation::kListFiles, kDirectoryKey), std::nullopt);
}

TEST_F(Precedences, LetAnOpenComeBeforeTheNextWrite) {
  auto writing = begin(FileOperation::kPutRange);
  const auto opening = begin_open(file_open(kReadAccess, kReadAccess));
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), Refusal::kCached);
  EXPECT_EQ(verdict(table, FileOperation::kListRanges), std::nullopt);
  writing.reset();
  ASSERT_TRUE(opening->result && opening->result->ok());
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), Refusal::kSharingViolation);
  // And one below a directory before its next move.
  auto moving = *table.admit_directory_rename({kShare, 50});
  FileOpen below = file_open(kReadAccess, kFullAccess);
  below.file.id = kFile + 1;
  below.ancestors = {0, 50};
  const auto waiting = begin_open(below);
  EXPECT_EQ(table.admit_directory_rename({kShare, 50}).error(), Error(Refusal::kCached));
  moving = {};
  ASSERT_TRUE(waiting->result && waiting->result->ok());
}

// A client may take half a minute to answer.
TEST_F(Precedences, AreNotHeldWhileAClientIsWaitedFor) {
  must_open(table, wanting("RH", a, '1'));
  const HandleId handle = must_open(table, file_open(kDeleteAccess, kFullAccess));
  auto looking = begin(FileOperation::kListFiles);
  OpenFiles::Precedence precedence;
  EXPECT_EQ(table.admit_rename_by(handle, false, precedence).error(), Error(Refusal::kCached));
  Started marking(table.set_delete_pending(handle, true));
  EXPECT_EQ(verdict(table, FileOperation::kListFiles), std::nullopt);
  EXPECT_EQ(a->told(), "RH>R!");
  ASSERT_TRUE(table.acknowledge(lease_name('a', '1'), caching("R")).ok());
  EXPECT_EQ(verdict(table, FileOperation::kListFiles), Refusal::kCached) << "from now on";
  looking.reset();
  EXPECT_TRUE(RunLoop::run(marking.join()).ok());
}

}  // namespace
}  // namespace kyanite::tree
