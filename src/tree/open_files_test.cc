#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tree/open_files.h"
#include "tree/open_files_test_support.h"

namespace kyanite::tree {
namespace {

// Eight share modes of an SMB open against eight REST operations.
TEST(OpenFiles, RestOperationsBesideShareModes) {
  struct Column {
    FileOperation operation;
    const char* name;
  };
  const Column columns[] = {
      {FileOperation::kCreateFile, "Create File"},
      {FileOperation::kGetFile, "Get File"},
      {FileOperation::kSetFileProperties, "Set File Properties"},
      {FileOperation::kSetFileMetadata, "Set File Metadata"},
      {FileOperation::kDeleteFile, "Delete File"},
      {FileOperation::kPutRange, "Put Range"},
      {FileOperation::kListRanges, "List Ranges"},
      {FileOperation::kLeaseFile, "Lease File"},
  };
  struct Row {
    const char* share;
    const char* outcome;  // per column: + goes on, x SharingViolation
  };
  const Row rows[] = {
      {"", "xxxxxxxx"},   {"R", "x+xxxx+x"},  {"W", "xx++x+xx"},  {"D", "xxxxxxxx"},
      {"RW", "x+++x++x"}, {"RD", "x+xxxx+x"}, {"WD", "+x++x+xx"}, {"RWD", "++++x+++"},
  };
  for (const Row& row : rows) {
    for (size_t i = 0; i < std::size(columns); ++i) {
      OpenFiles table;
      const HandleId handle = must_open(table, file_open(kReadAccess, set(row.share)));
      const auto expected =
          row.outcome[i] == '+' ? std::nullopt : std::optional(Refusal::kSharingViolation);
      EXPECT_EQ(verdict(table, columns[i].operation), expected)
          << columns[i].name << " share " << row.share;
      // Of the file alone, and only while it is open.
      EXPECT_EQ(verdict(table, columns[i].operation, kDirectoryKey), std::nullopt);
      EXPECT_TRUE(table.close(handle).ok());
      EXPECT_EQ(verdict(table, columns[i].operation), std::nullopt);
    }
  }
}

TEST(OpenFiles, LooksNeverViolate) {
  OpenFiles table;
  must_open(table, file_open(kFullAccess, kNoAccess));
  for (const auto operation : {FileOperation::kListFiles, FileOperation::kGetFileProperties,
                               FileOperation::kGetFileMetadata}) {
    EXPECT_EQ(verdict(table, operation), std::nullopt);
  }
}

TEST(OpenFiles, EveryOpenCounts) {
  OpenFiles table;
  must_open(table, file_open(kReadAccess, kFullAccess));
  must_open(table, file_open(kReadAccess, kReadAccess));
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), Refusal::kSharingViolation);
  EXPECT_EQ(verdict(table, FileOperation::kGetFile), std::nullopt);
}

TEST(OpenFiles, OpensAgainstOpens) {
  struct Row {
    const char *access_a, *share_a, *access_b, *share_b;
    bool granted;
  };
  const Row rows[] = {
      {"R", "W", "W", "R", true},     {"W", "R", "W", "W", false}, {"W", "W", "W", "R", false},
      {"R", "R", "R", "R", true},     {"R", "", "R", "R", false},  {"RW", "", "R", "RWD", false},
      {"D", "RWD", "R", "RW", false}, {"", "", "RWD", "", true},
  };
  for (const Row& row : rows) {
    OpenFiles table;
    must_open(table, file_open(set(row.access_a), set(row.share_a)));
    const auto second = RunLoop::run(table.open(file_open(set(row.access_b), set(row.share_b))));
    EXPECT_EQ(second.ok(), row.granted);
    if (!second) {
      EXPECT_EQ(second.error(), Refusal::kSharingViolation);
    }
  }
}

TEST(OpenFiles, HandlesOfOneFileAreLimited) {
  OpenFiles table;
  for (size_t i = 0; i < kMaxHandlesPerFile; ++i)
    must_open(table, file_open(kReadAccess, kFullAccess));
  const auto refused = RunLoop::run(table.open(file_open(kReadAccess, kFullAccess)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), Refusal::kTooManyHandles);
}

TEST(OpenFiles, TheRootOfAShareIsOpenedByMore) {
  OpenFiles table;
  FileOpen root = file_open(kReadAccess, kFullAccess);
  root.file = kRootKey;
  root.ancestors = {};
  for (size_t i = 0; i <= kMaxHandlesPerFile; ++i) must_open(table, root);
}

// --- Deletion ---

TEST(OpenFiles, DeletePendingUntilTheLastClose) {
  OpenFiles table;
  const HandleId first = must_open(table, file_open(kDeleteAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kReadAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.set_delete_pending(first, true)).ok());
  EXPECT_TRUE(table.delete_pending(kShare).contains(kFile));
  EXPECT_TRUE(table.delete_pending(kShare + 1).empty());
  for (const auto operation : {FileOperation::kListFiles, FileOperation::kGetFileProperties,
                               FileOperation::kPutRange, FileOperation::kDeleteFile}) {
    EXPECT_EQ(verdict(table, operation), Refusal::kDeletePending);
  }
  const auto refused = RunLoop::run(table.open(file_open(kReadAccess, kFullAccess)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), Refusal::kDeletePending);

  auto closed = table.close(first);
  ASSERT_TRUE(closed.ok());
  EXPECT_FALSE(closed->removal);
  auto last = table.close(second);
  ASSERT_TRUE(last.ok());
  ASSERT_TRUE(last->removal);
  // Until the file is removed it stays marked; from then on nothing is known of it.
  EXPECT_EQ(verdict(table, FileOperation::kGetFile), Refusal::kDeletePending);
  last->removal.reset();
  EXPECT_EQ(verdict(table, FileOperation::kGetFile), std::nullopt);
  EXPECT_TRUE(table.delete_pending(kShare).empty());
}

TEST(OpenFiles, DeletePendingCanBeWithdrawn) {
  OpenFiles table;
  const HandleId first = must_open(table, file_open(kDeleteAccess, kFullAccess));
  const HandleId second = must_open(table, file_open(kFullAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.set_delete_pending(first, true)).ok());
  // Any handle with delete access may withdraw what another one marked.
  ASSERT_TRUE(RunLoop::run(table.set_delete_pending(second, false)).ok());
  EXPECT_EQ(verdict(table, FileOperation::kGetFile), std::nullopt);
  EXPECT_TRUE(table.close(first).ok());
  auto last = table.close(second);
  ASSERT_TRUE(last.ok());
  EXPECT_FALSE(last->removal);
}

TEST(OpenFiles, MarkingNeedsDeleteAccess) {
  OpenFiles table;
  const HandleId handle = must_open(table, file_open(kReadAccess | kWriteAccess, kFullAccess));
  const auto marked = RunLoop::run(table.set_delete_pending(handle, true));
  ASSERT_FALSE(marked.ok());
  EXPECT_EQ(marked.error(), Refusal::kAccessDenied);
  EXPECT_EQ(RunLoop::run(table.set_delete_pending(handle + 1, true)).error(),
            Refusal::kNoSuchHandle);
}

TEST(OpenFiles, DeleteOnCloseMarksWhenItsHandleCloses) {
  OpenFiles table;
  FileOpen request = file_open(kDeleteAccess, kFullAccess);
  request.delete_on_close = true;
  const HandleId marking = must_open(table, request);
  const HandleId other = must_open(table, file_open(kReadAccess, kFullAccess));
  EXPECT_TRUE(table.delete_pending(kShare).empty());
  auto closed = table.close(marking);
  ASSERT_TRUE(closed.ok());
  EXPECT_FALSE(closed->removal);
  EXPECT_EQ(verdict(table, FileOperation::kGetFile), Refusal::kDeletePending);
  auto last = table.close(other);
  ASSERT_TRUE(last.ok());
  EXPECT_TRUE(last->removal);
}

// --- Operations in flight ---

// An operation in flight; reset() ends it and resumes those who waited right here, because this
// thread has no executor.
std::optional<OpenFiles::Admission> begin(OpenFiles& table, FileOperation operation) {
  auto admission = table.admit(kFileKey, operation);
  EXPECT_TRUE(admission.ok());
  return std::move(*admission);
}

TEST(OpenFiles, ConflictingOpenWaitsForTheOperationInFlight) {
  OpenFiles table;
  auto writing = begin(table, FileOperation::kPutRange);
  auto short_one = begin(table, FileOperation::kPutRange);
  // It shares writing, so it does not conflict and is granted at once.
  must_open(table, file_open(kReadAccess, kFullAccess));
  bool granted = false;
  auto exclusive = [&]() -> Task<void> {
    const auto opened = co_await table.open(file_open(kReadAccess, kReadAccess));
    granted = opened.ok();
  };
  detach(exclusive());
  EXPECT_FALSE(granted);
  // One that is over already does not let it in while another is not.
  short_one.reset();
  EXPECT_FALSE(granted);
  writing.reset();
  EXPECT_TRUE(granted);
  EXPECT_EQ(verdict(table, FileOperation::kPutRange), Refusal::kSharingViolation);
}

TEST(OpenFiles, OpenDuringDeletionComesAfterIt) {
  OpenFiles table;
  auto deleting = begin(table, FileOperation::kDeleteFile);
  bool granted = false;
  auto opening = [&]() -> Task<void> {
    const auto opened = co_await table.open(file_open(kNoAccess, kFullAccess));
    granted = opened.ok();
  };
  detach(opening());
  EXPECT_FALSE(granted);
  deleting.reset();
  EXPECT_TRUE(granted);
}

TEST(OpenFiles, MarkAndLockWaitToo) {
  OpenFiles table;
  const HandleId handle = must_open(table, file_open(kFullAccess, kFullAccess));
  auto writing = begin(table, FileOperation::kPutRange);
  bool locked = false;
  bool marked = false;
  auto lock = [&]() -> Task<void> {
    std::vector<RangeLock> locks = {{{0, 10}, true}};
    const auto done = co_await table.lock(handle, std::move(locks));
    locked = done.ok();
  };
  auto mark = [&]() -> Task<void> {
    const auto done = co_await table.set_delete_pending(handle, true);
    marked = done.ok();
  };
  detach(lock());
  detach(mark());
  EXPECT_FALSE(locked);
  EXPECT_FALSE(marked);
  writing.reset();
  EXPECT_TRUE(locked);
  EXPECT_TRUE(marked);
  EXPECT_TRUE(table.delete_pending(kShare).contains(kFile));
}

TEST(OpenFiles, NobodyIsRefusedBecauseOfAnOpenThatMayBeWithdrawn) {
  OpenFiles table;
  FileOpen exclusive = file_open(kFullAccess, kNoAccess);
  exclusive.undecided = true;
  for (const bool stays : {false, true}) {
    const HandleId first = must_open(table, exclusive);
    EXPECT_EQ(verdict(table, FileOperation::kGetFile), Refusal::kCached);
    std::optional<kyanite::Result<HandleId, Refusal>> second;
    bool asked_again = false;
    auto open = [&]() -> Task<void> {
      second.emplace(co_await table.open(file_open(kReadAccess, kFullAccess)));
    };
    auto wait = [&]() -> Task<void> {
      const auto given = co_await table.given_back(kFileKey, {});
      asked_again = given.ok();
    };
    detach(open());
    detach(wait());
    EXPECT_FALSE(second || asked_again);
    if (stays) {
      table.decide(first);
    } else {
      table.force_close(kFileKey, false, first);
    }
    EXPECT_TRUE(asked_again);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->ok(), !stays);
    if (*second) {
      EXPECT_TRUE(table.close(**second).ok());
    }
    EXPECT_EQ(verdict(table, FileOperation::kGetFile) == Refusal::kSharingViolation, stays);
  }
}

TEST(OpenFiles, DeletionOnCloseComesAfterOperationsInFlightAndBeforeTheNext) {
  OpenFiles table;
  FileOpen request = file_open(kDeleteAccess, kFullAccess);
  request.delete_on_close = true;
  const HandleId marking = must_open(table, request);
  const HandleId other = must_open(table, file_open(kReadAccess, kFullAccess));
  std::optional<OpenFiles::Admission> writing = *table.admit(kFileKey, FileOperation::kPutRange);
  bool begun = false, asked_again = false;
  auto close = [&]() -> Task<void> {
    co_await table.begin_closing(marking);
    begun = true;
  };
  auto wait = [&]() -> Task<void> {
    const auto given = co_await table.given_back(kFileKey, {});
    asked_again = given.ok();
  };
  detach(close());
  EXPECT_FALSE(begun);
  EXPECT_EQ(verdict(table, FileOperation::kGetFile), Refusal::kCached);
  writing.reset();
  EXPECT_TRUE(begun);
  EXPECT_EQ(verdict(table, FileOperation::kGetFile), Refusal::kCached);
  detach(wait());
  EXPECT_FALSE(asked_again);
  ASSERT_TRUE(table.close(marking).ok());
  EXPECT_TRUE(asked_again);
  EXPECT_EQ(verdict(table, FileOperation::kGetFile), Refusal::kDeletePending);
  EXPECT_TRUE(table.close(other).ok());
}

TEST(OpenFiles, OperationsInFlightDoNotDisturbEachOther) {
  OpenFiles table;
  auto first = table.admit(kFileKey, FileOperation::kCreateFile);
  auto second = table.admit(kFileKey, FileOperation::kDeleteFile);
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(second.ok());
}

// Many writers and openers at once: an open that denies writing never overlaps an operation that
// writes.
TEST(OpenFiles, ManyThreads) {
  OpenFiles table;
  std::atomic<int> writing = 0;
  std::atomic<int> denying = 0;
  std::atomic<bool> overlapped = false;
  auto write = [&] {
    for (int i = 0; i < 500; ++i) {
      auto admission = table.admit(kFileKey, FileOperation::kPutRange);
      if (!admission) continue;
      ++writing;
      if (denying > 0) overlapped = true;
      --writing;
    }
  };
  auto deny = [&]() -> Task<void> {
    for (int i = 0; i < 500; ++i) {
      FileOpen request = file_open(kReadAccess, kReadAccess);
      const auto handle = co_await table.open(std::move(request));
      if (!handle) continue;
      ++denying;
      if (writing > 0) overlapped = true;
      --denying;
      EXPECT_TRUE(table.close(*handle).ok());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] { write(); });
    threads.emplace_back([&] { RunLoop::run(deny()); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(overlapped);
  EXPECT_EQ(verdict(table, FileOperation::kDeleteFile), std::nullopt);
}

// --- Byte-range locks ---

TEST(OpenFiles, ListsHandlesOfAFileAndBelowADirectory) {
  OpenFiles table;
  const HandleId file = must_open(table, file_open(kReadAccess, kFullAccess));
  const HandleId directory = must_open(table, directory_open(kReadAccess, kFullAccess));
  const HandleId again = must_open(table, file_open(kReadAccess, kFullAccess));
  struct Row {
    FileKey key;
    bool recursive;
    std::vector<HandleId> expected;
  };
  const Row rows[] = {
      {kFileKey, false, {file, again}},
      {kDirectoryKey, false, {directory}},
      {kDirectoryKey, true, {file, directory, again}},
      {kRootKey, false, {}},
      {kRootKey, true, {file, directory, again}},
      {{kShare + 1, 0}, true, {}},
  };
  for (const Row& row : rows) {
    std::vector<HandleId> ids;
    for (const auto& handle : table.list(row.key, row.recursive, 0, 100)) ids.push_back(handle.id);
    EXPECT_EQ(ids, row.expected) << &row - rows;
  }
  const auto page = table.list(kRootKey, true, file, 1);
  ASSERT_EQ(page.size(), 1u);
  EXPECT_EQ(page[0].id, directory);
  EXPECT_EQ(page[0].path, "directory");
  EXPECT_EQ(page[0].client, "127.0.0.1:50000");
}

TEST(OpenFiles, ForceClose) {
  OpenFiles table;
  const HandleId file = must_open(table, file_open(kFullAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.set_delete_pending(file, true)).ok());
  EXPECT_FALSE(table.force_close(kDirectoryKey, false, file));
  EXPECT_FALSE(table.force_close(kDirectoryKey, true, file + 1));
  EXPECT_TRUE(table.force_close(kDirectoryKey, true, file));
  // The file stays and is no longer marked.
  EXPECT_EQ(verdict(table, FileOperation::kDeleteFile), std::nullopt);
  EXPECT_FALSE(table.find(file));
  EXPECT_EQ(table.close(file).error(), Refusal::kNoSuchHandle);
  EXPECT_EQ(table.check_io(file, {0, 1}, false).error(), Refusal::kNoSuchHandle);

  must_open(table, file_open(kReadAccess, kFullAccess));
  must_open(table, directory_open(kReadAccess, kFullAccess));
  EXPECT_EQ(table.force_close_all(kRootKey, false), 0u);
  EXPECT_EQ(table.force_close_all(kRootKey, true), 2u);

  const HandleId last = must_open(table, file_open(kReadAccess, kNoAccess));
  table.force_close_share(kShare + 1);
  EXPECT_TRUE(table.find(last));
  table.force_close_share(kShare);
  EXPECT_FALSE(table.find(last));
  EXPECT_EQ(verdict(table, FileOperation::kGetFile), std::nullopt);
}

// --- Renames ---

TEST(OpenFiles, NothingBelowARenamedDirectoryMayBeOpen) {
  OpenFiles table;
  const HandleId file = must_open(table, file_open(kReadAccess, kFullAccess));
  auto refused = table.admit_directory_rename(kDirectoryKey);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), Error(Refusal::kSharingViolation));
  ASSERT_TRUE(table.close(file).ok());

  auto admission = table.admit_directory_rename(kDirectoryKey);
  ASSERT_TRUE(admission.ok());
  std::optional<OpenFiles::Admission> moving = std::move(*admission);
  bool granted = false;
  auto opening = [&]() -> Task<void> {
    const auto opened = co_await table.open(file_open(kNoAccess, kFullAccess));
    granted = opened.ok();
  };
  detach(opening());
  EXPECT_FALSE(granted);
  moving.reset();
  EXPECT_TRUE(granted);
}

TEST(OpenFiles, OpenFileIsFoundWhereItWasMoved) {
  OpenFiles table;
  const HandleId handle = must_open(table, file_open(kReadAccess, kFullAccess));
  {
    auto admission = table.admit(kFileKey, FileOperation::kRenameFile);
    ASSERT_TRUE(admission.ok());
    admission->renamed({0, 200}, "elsewhere/file");
  }
  EXPECT_TRUE(table.list(kDirectoryKey, true, 0, 10).empty());
  const auto listed = table.list({kShare, 200}, true, 0, 10);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].path, "elsewhere/file");
  auto moved = table.admit_directory_rename({kShare, 200});
  EXPECT_FALSE(moved.ok());
  EXPECT_TRUE(table.admit_directory_rename(kDirectoryKey).ok());
  ASSERT_TRUE(table.close(handle).ok());
}

}  // namespace
}  // namespace kyanite::tree
