// Caching in the open-file table: who is granted what, who is told to give it back, who waits.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tree/caching_test_support.h"

namespace kyanite::tree {
namespace {

using Caching = CachingTest;

TEST_F(Caching, AnOpenTakesWritingFromAnother) {
  const HandleId first = must_open(table, wanting("RWH", a, '1'));
  EXPECT_EQ(held(first), "RWH");
  const auto second = begin_open(wanting("RWH", b, '2', 'b'));
  EXPECT_FALSE(second->result) << "waits for the holder";
  EXPECT_EQ(a->told(), "RWH>RH!");
  EXPECT_EQ(held(first), "RWH") << "until it says so";
  ASSERT_TRUE(table.acknowledge(lease_name('a', '1'), caching("RH")).ok());
  ASSERT_TRUE(second->result && second->result->ok());
  EXPECT_EQ(held(first), "RH");
  EXPECT_EQ(held(**second->result), "RH");
}

TEST_F(Caching, OplocksGoDownToLevelTwo) {
  const HandleId first = must_open(table, wanting("RWH", a));
  EXPECT_EQ(held(first), "RWH");
  const auto second = begin_open(wanting("RWH", b));
  EXPECT_EQ(a->told(), "RWH>R!");
  EXPECT_EQ(table.acknowledge(lease_name('a', '1'), caching("R")).error(),
            AcknowledgeError::kUnknown);
  ASSERT_TRUE(table.acknowledge(first, caching("R")).ok());
  ASSERT_TRUE(second->result && second->result->ok());
  EXPECT_EQ(held(first), "R");
  EXPECT_EQ(held(**second->result), "R");
  // What is written is in nobody's memory any more, and nobody waits for that.
  ASSERT_TRUE(table.check_io(**second->result, {0, 1}, true).ok());
  EXPECT_EQ(a->told(), "R>-");
  EXPECT_EQ(b->told(), "R>-") << "not even in that of who wrote";
  EXPECT_EQ(held(first), "-");
  EXPECT_EQ(table.acknowledge(first, caching("")).error(), AcknowledgeError::kNotBreaking);
}

TEST_F(Caching, OpensUnderOneKeyDoNotDisturbEachOther) {
  const HandleId first = must_open(table, wanting("RH", a, '1'));
  const HandleId second = must_open(table, wanting("RWH", b, '1'));
  EXPECT_EQ(held(first), "RWH") << "what they share has grown";
  EXPECT_EQ(held(second), "RWH");
  ASSERT_TRUE(table.check_io(second, {0, 1}, true).ok());
  ASSERT_TRUE(RunLoop::run(table.lock(second, {{{0, 1}, true}})).ok());
  ASSERT_TRUE(RunLoop::run(table.prepare(second, concurrency::HandleUse::kMove)).ok());
  EXPECT_EQ(a->told() + b->told(), "");
  // It stays until the last of them is closed, and less is not asked for by asking for less.
  const HandleId third = must_open(table, wanting("R", a, '1'));
  EXPECT_EQ(held(third), "RWH");
  ASSERT_TRUE(table.close(first).ok());
  ASSERT_TRUE(table.close(third).ok());
  EXPECT_EQ(held(second), "RWH");
}

TEST_F(Caching, EpochsCountGrantsAndBreaks) {
  FileOpen request = wanting("R", a, '1');
  request.caching.epoch = 0x10;
  request.caching.counts_epochs = true;
  const HandleId first = must_open(table, request);
  EXPECT_EQ(table.caching(first)->epoch, 0x11);
  EXPECT_TRUE(table.caching(first)->counts_epochs);
  request.caching.epoch = 0x40;
  must_open(table, request);
  EXPECT_EQ(table.caching(first)->epoch, 0x11) << "nothing has changed";
  request.caching.caching = caching("RWH");
  must_open(table, request);
  EXPECT_EQ(table.caching(first)->epoch, 0x12);
  const auto other = begin_open(wanting("", b));
  EXPECT_EQ(a->last.epoch, 0x13);
  EXPECT_TRUE(table.caching(first)->breaking);
  ASSERT_TRUE(table.acknowledge(lease_name('a', '1'), caching("RH")).ok());
  EXPECT_EQ(table.caching(first)->epoch, 0x13);
}

TEST_F(Caching, WhoReplacesWhatIsOnlyReadDoesNotWait) {
  const HandleId first = must_open(table, wanting("RH", a, '1'));
  FileOpen replacing = wanting("", b);
  replacing.replaces = true;
  EXPECT_TRUE(begin_open(replacing)->result);
  EXPECT_EQ(a->told(), "RH>-!");
  EXPECT_TRUE(begin_open(replacing)->result) << "nothing more is to be given up";
  EXPECT_EQ(a->told(), "");
  EXPECT_EQ(held(first), "RH") << "until it says so";
}

TEST_F(Caching, WhoDoesNotAnswerIsReminded) {
  const HandleId first = must_open(table, wanting("RWH", a, '1'));
  const auto second = begin_open(wanting("", b));
  EXPECT_EQ(a->told(), "RWH>RH!");
  EXPECT_EQ(a->last.reminder, 0u);
  for (size_t reminder = 1; reminder < kBreakSeconds / kReminderSeconds; ++reminder) {
    clock.advance_seconds(kReminderSeconds - 1);
    table.pass_time();
    EXPECT_EQ(a->told(), "") << reminder;
    clock.advance_seconds(1);
    table.pass_time();
    EXPECT_EQ(a->told(), "RWH>RH!") << reminder;
    EXPECT_EQ(a->last.reminder, reminder);
  }
  EXPECT_FALSE(second->result);
  clock.advance_seconds(kReminderSeconds);
  table.pass_time();
  EXPECT_TRUE(second->result && second->result->ok());
  EXPECT_EQ(held(first), "-");
}

TEST_F(Caching, WhatIsOnlyKeptBelowADirectoryIsGivenUpForIt) {
  constexpr EntryId kDirectory = 70;
  FileOpen below = wanting("RWH", a, '1');
  below.ancestors = {kRootId, kDirectory};
  const HandleId kept = must_open(table, below);
  FileOpen another = wanting("RH", b, '2');
  another.ancestors = below.ancestors;
  another.file.id = kFile + 1;
  const HandleId used = must_open(table, another);
  bool done = false;
  const auto run = [](OpenFiles& files, FileKey directory, bool& out) -> Task<void> {
    out = (co_await files.release_below(directory, {})).ok();
  };
  detach(run(table, {below.file.share, kDirectory}, done));
  EXPECT_EQ(a->told(), "RWH>RW!");
  EXPECT_EQ(b->told(), "RH>R!") << "all are asked at once";
  ASSERT_TRUE(table.close(kept).ok());
  EXPECT_FALSE(done);
  ASSERT_TRUE(table.acknowledge(lease_name('a', '2'), caching("R")).ok());
  EXPECT_TRUE(done);
  EXPECT_TRUE(table.find(used)) << "its program uses it";
}

TEST_F(Caching, AKeyIsOfOneFile) {
  const HandleId first = must_open(table, wanting("RH", a, '1'));
  FileOpen elsewhere = wanting("RH", a, '1');
  elsewhere.file.id = kFile + 1;
  EXPECT_EQ(RunLoop::run(table.open(elsewhere)).error(), Refusal::kLeaseElsewhere);
  FileOpen others = wanting("RH", b, '1', 'b');
  others.file.id = kFile + 1;
  EXPECT_TRUE(RunLoop::run(table.open(others)).ok()) << "keys are each client's own";
  ASSERT_TRUE(table.close(first).ok());
  EXPECT_TRUE(RunLoop::run(table.open(elsewhere)).ok());
}

TEST_F(Caching, LooksAtAttributesDisturbNobody) {
  const HandleId first = must_open(table, wanting("RWH", a, '1'));
  FileOpen look = file_open(kNoAccess, kFullAccess);
  look.reach = concurrency::OpenReach::kAttributes;
  const HandleId looking = must_open(table, look);
  EXPECT_EQ(a->told(), "");
  ASSERT_TRUE(table.close(first).ok());
  // And do not count when writing is to be cached.
  EXPECT_EQ(held(must_open(table, wanting("RWH", b))), "RWH");
  ASSERT_TRUE(table.close(looking).ok());
}

TEST_F(Caching, LocksKeepOthersFromCaching) {
  const HandleId first = must_open(table, wanting("R", a, '1'));
  const HandleId second = must_open(table, file_open(kReadAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.lock(second, {{{0, 1}, true}})).ok());
  EXPECT_EQ(a->told(), "R>-");
  EXPECT_EQ(held(first), "-");
  EXPECT_EQ(held(must_open(table, wanting("RH", b, '2'))), "-");
}

// --- Conflicts of share modes ---

TEST_F(Caching, AHandleThatIsOnlyKeptIsClosedForAnother) {
  FileOpen exclusive = wanting("RWH", a, '1');
  exclusive.mode.share = kNoAccess;
  const HandleId first = must_open(table, exclusive);
  const auto second = begin_open(file_open(kReadAccess, kFullAccess));
  EXPECT_EQ(a->told(), "RWH>RW!");
  EXPECT_FALSE(second->result);
  ASSERT_TRUE(table.close(first).ok());
  ASSERT_TRUE(second->result);
  EXPECT_TRUE(second->result->ok());
}

TEST_F(Caching, AHandleThatIsInUseIsNot) {
  FileOpen exclusive = wanting("RWH", a, '1');
  exclusive.mode.share = kNoAccess;
  const HandleId first = must_open(table, exclusive);
  const auto second = begin_open(file_open(kReadAccess, kFullAccess));
  ASSERT_TRUE(table.acknowledge(lease_name('a', '1'), caching("RW")).ok());
  ASSERT_TRUE(second->result);
  EXPECT_EQ(second->result->error(), Refusal::kSharingViolation);
  // Now it is known to be in use.
  EXPECT_EQ(a->told(), "RWH>RW!");
  EXPECT_EQ(RunLoop::run(table.open(file_open(kReadAccess, kFullAccess))).error(),
            Refusal::kSharingViolation);
  EXPECT_EQ(a->told(), "");
  EXPECT_EQ(held(first), "RW");
  // Under the same key nothing is broken; the share modes hold all the same.
  EXPECT_EQ(RunLoop::run(table.open(wanting("RWH", a, '1'))).error(), Refusal::kSharingViolation);
}

// --- Several breaks ---

TEST_F(Caching, OneBreakFollowsAnother) {
  must_open(table, wanting("RWH", a, '1'));
  const auto reader = begin_open(wanting("", b));
  EXPECT_EQ(a->told(), "RWH>RH!");
  const uint16_t epoch = a->last.epoch;
  FileOpen replacing = wanting("", b);
  replacing.replaces = true;
  const auto writer = begin_open(replacing);
  EXPECT_EQ(a->told(), "") << "one at a time";
  const LeaseName lease = lease_name('a', '1');
  EXPECT_EQ(table.acknowledge(lease, caching("RWH")).error(), AcknowledgeError::kTooMuch);
  ASSERT_TRUE(table.acknowledge(lease, caching("RH")).ok());
  EXPECT_FALSE(reader->result) << "has what it waited for, but the break is not over";
  EXPECT_FALSE(writer->result);
  EXPECT_EQ(a->told(), "RH>R!") << "in steps";
  ASSERT_TRUE(table.acknowledge(lease, caching("R")).ok());
  EXPECT_EQ(a->told(), "R>-");
  EXPECT_EQ(a->last.epoch, epoch) << "all steps are one break";
  EXPECT_TRUE(reader->result && reader->result->ok());
  EXPECT_TRUE(writer->result && writer->result->ok());
  EXPECT_EQ(table.acknowledge(lease, caching("")).error(), AcknowledgeError::kNotBreaking);
}

TEST_F(Caching, WhoDoesNotAnswerHasLostEverything) {
  const HandleId first = must_open(table, wanting("RWH", a, '1'));
  const auto second = begin_open(wanting("", b));
  clock.advance_seconds(kBreakSeconds - 1);
  table.pass_time();
  EXPECT_FALSE(second->result);
  clock.advance_seconds(1);
  table.pass_time();
  ASSERT_TRUE(second->result);
  EXPECT_TRUE(second->result->ok());
  EXPECT_EQ(held(first), "-");
  EXPECT_EQ(table.acknowledge(lease_name('a', '1'), caching("")).error(),
            AcknowledgeError::kNotBreaking);
}

TEST_F(Caching, AnOpenThatWaitsCanBeCancelled) {
  must_open(table, wanting("RWH", a, '1'));
  FileOpen request = wanting("", b);
  request.ticket = 77;
  const auto second = begin_open(request);
  table.cancel_open(kFileKey, 76);
  EXPECT_FALSE(second->result);
  table.cancel_open(kFileKey, 77);
  ASSERT_TRUE(second->result);
  EXPECT_EQ(second->result->error(), Refusal::kCancelled);
}

TEST_F(Caching, MarkingForDeletionTakesKeptHandles) {
  must_open(table, wanting("RH", a, '1'));
  FileOpen deleting = file_open(kDeleteAccess, kFullAccess);
  const HandleId second = must_open(table, deleting);
  EXPECT_EQ(a->told(), "");
  Started marking(table.set_delete_pending(second, true));
  EXPECT_EQ(a->told(), "RH>R!");
  EXPECT_TRUE(table.delete_pending(kShare).empty());
  ASSERT_TRUE(table.acknowledge(lease_name('a', '1'), caching("R")).ok());
  EXPECT_FALSE(table.delete_pending(kShare).empty());
  EXPECT_TRUE(RunLoop::run(marking.join()).ok());
}

// Whoever was granted it between the first look and the rename gives it up as well.
TEST_F(Caching, RenamingTakesKeptHandles) {
  const HandleId mover = must_open(table, file_open(kDeleteAccess, kFullAccess));
  ASSERT_TRUE(RunLoop::run(table.prepare(mover, concurrency::HandleUse::kMove)).ok());
  const HandleId other = must_open(table, wanting("RH", a, '1'));
  OpenFiles::Precedence precedence;
  EXPECT_EQ(table.admit_rename_by(mover, false, precedence).error(), Error(Refusal::kCached));
  EXPECT_EQ(a->told(), "RH>R!");
  Started soon(table.given_back(kFileKey, {}, mover));
  EXPECT_FALSE(soon.is_done());
  ASSERT_TRUE(table.acknowledge(lease_name('a', '1'), caching("R")).ok());
  EXPECT_TRUE(RunLoop::run(soon.join()).ok());
  EXPECT_TRUE(table.admit_rename_by(mover, false, precedence).ok());
  EXPECT_EQ(held(other), "R");
}

// --- REST ---

TEST_F(Caching, RestTakesBackAndWaits) {
  struct Row {
    FileOperation operation;
    const char* held;
    const char* told;
    bool waits;
  };
  const Row rows[] = {
      {FileOperation::kGetFile, "RWH", "RWH>RH!", true},
      {FileOperation::kGetFileProperties, "RW", "RW>R!", true},
      {FileOperation::kListRanges, "RH", "", false},
      {FileOperation::kPutRange, "RWH", "RWH>-!", true},
      {FileOperation::kSetFileMetadata, "RH", "RH>-!", false},
      {FileOperation::kSetFileProperties, "R", "R>-", false},
      {FileOperation::kListFiles, "RWH", "", false},
  };
  for (const Row& row : rows) {
    OpenFiles files(clock);
    const HandleId handle = must_open(files, wanting(row.held, a, '1'));
    const auto verdict_now = verdict(files, row.operation);
    EXPECT_EQ(verdict_now, row.waits ? std::optional(Refusal::kCached) : std::nullopt) << row.told;
    EXPECT_EQ(a->told(), row.told);
    if (!row.waits) continue;
    Started waiting(files.given_back(kFileKey, {}));
    ASSERT_TRUE(files.acknowledge(lease_name('a', '1'), a->last.to).ok());
    EXPECT_TRUE(RunLoop::run(waiting.join()).ok());
    EXPECT_EQ(verdict(files, row.operation), std::nullopt);
    EXPECT_EQ(text_of(files.caching(handle)->caching), text_of(a->last.to));
  }
}

// Who opens a file while a REST operation changes it caches nothing that this makes untrue.
TEST_F(Caching, IsNotGrantedBesideWhatIsUnderWay) {
  struct Row {
    FileOperation operation;
    const char* granted;
  };
  const Row rows[] = {{FileOperation::kPutRange, "-"},
                      {FileOperation::kSetFileProperties, "-"},
                      {FileOperation::kCreateFile, "-"},
                      {FileOperation::kListFiles, "RWH"}};
  for (const Row& row : rows) {
    OpenFiles files(clock);
    const auto under_way = files.admit(kFileKey, row.operation);
    ASSERT_TRUE(under_way.ok());
    const HandleId handle = must_open(files, wanting("RWH", a, '1'));
    EXPECT_EQ(text_of(files.caching(handle)->caching), row.granted);
  }
}

TEST_F(Caching, IsNotGrantedBesideWhoIsAboutToEmptyTheFile) {
  FileOpen emptying = wanting("", b, '2');
  emptying.undecided = true;
  emptying.replaces = true;
  const HandleId other = must_open(table, emptying);
  const HandleId handle = must_open(table, wanting("RWH", a, '1'));
  EXPECT_EQ(text_of(table.caching(handle)->caching), "-");
  table.decide(other);
  const HandleId later = must_open(table, wanting("R", a, '1'));
  EXPECT_EQ(text_of(table.caching(later)->caching), "R");
}

TEST_F(Caching, RestDeletesWhatIsOnlyKept) {
  const HandleId handle = must_open(table, wanting("RH", a, '1'));
  EXPECT_EQ(verdict(table, FileOperation::kDeleteFile), Refusal::kCached);
  EXPECT_EQ(a->told(), "RH>R!");
  Started waiting(table.given_back(kFileKey, {}));
  ASSERT_TRUE(table.close(handle).ok());
  EXPECT_TRUE(RunLoop::run(waiting.join()).ok());
  EXPECT_EQ(verdict(table, FileOperation::kDeleteFile), std::nullopt);
}

TEST_F(Caching, RestDoesNotDeleteWhatIsInUse) {
  must_open(table, wanting("RWH", a, '1'));
  EXPECT_EQ(verdict(table, FileOperation::kDeleteFile), Refusal::kCached);
  EXPECT_EQ(a->told(), "RWH>RW!");
  ASSERT_TRUE(table.acknowledge(lease_name('a', '1'), caching("RW")).ok());
  EXPECT_EQ(verdict(table, FileOperation::kDeleteFile), Refusal::kSharingViolation);
}

TEST_F(Caching, RestWaitsAsLongAsItsClient) {
  for (const int64_t seconds : {5, 30, 60}) {
    OpenFiles files(clock);
    must_open(files, wanting("RWH", a, '1'));
    EXPECT_EQ(verdict(files, FileOperation::kGetFile), Refusal::kCached);
    Started waiting(files.given_back(kFileKey, Deadline(clock, seconds)));
    const int64_t waits = std::min<int64_t>(seconds, kCacheFlushSeconds);
    clock.advance_seconds(waits - 1);
    files.pass_time();
    // Nobody was woken: what ends it now is time.
    clock.advance_seconds(1);
    files.pass_time();
    const auto waited = RunLoop::run(waiting.join());
    ASSERT_FALSE(waited.ok());
    EXPECT_EQ(waited.error(), Error(Refusal::kCacheFlushDelay));
  }
  // Nothing is broken: there is nothing to wait for.
  EXPECT_TRUE(RunLoop::run(table.given_back(kFileKey, {})).ok());
}

TEST_F(Caching, RestWaitsNoLongerForWhatIsNotCached) {
  const auto end = [&](Started<Result<void>>& waiting) {
    clock.advance_seconds(4);
    table.pass_time();
    EXPECT_FALSE(waiting.is_done());
    clock.advance_seconds(1);
    table.pass_time();
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(RunLoop::run(waiting.join()).error(), Error(Refusal::kCacheFlushDelay));
  };
  FileOpen open = file_open(kFullAccess, kFullAccess);
  open.undecided = true;
  const HandleId undecided = must_open(table, open);
  Started first(table.given_back(kFileKey, Deadline(clock, 5)));
  end(first);
  table.decide(undecided);
  // A handle about to be closed waits for what is in flight,
  auto looking = *table.admit(kFileKey, FileOperation::kListFiles);
  ASSERT_TRUE(RunLoop::run(table.set_delete_pending(undecided, false)).ok());
  Started closing(table.begin_marking(undecided));
  Started second(table.given_back(kFileKey, Deadline(clock, 5)));
  end(second);
  // and so does who has a precedence.
  Started marking(table.set_delete_pending(undecided, true));
  Started third(table.given_back(kFileKey, Deadline(clock, 5)));
  end(third);
  looking = {};
  EXPECT_TRUE(RunLoop::run(closing.join()).ok());
  EXPECT_TRUE(RunLoop::run(marking.join()).ok());
  EXPECT_TRUE(table.end_marking(undecided, true).ok());
}

TEST_F(Caching, MovingADirectoryOverRestWaitsAsLongAsItsClient) {
  FileOpen below = wanting("RWH", a, '1');
  must_open(table, below);
  Started waiting(table.release_below(kDirectoryKey, Deadline(clock, 5)));
  clock.advance_seconds(4);
  table.pass_time();
  EXPECT_FALSE(waiting.is_done());
  clock.advance_seconds(1);
  table.pass_time();
  ASSERT_TRUE(waiting.is_done());
  EXPECT_EQ(RunLoop::run(waiting.join()).error(), Error(Refusal::kCacheFlushDelay));
}

// --- Many threads ---

TEST_F(Caching, WritingIsCachedByOneAlone) {
  // Holders acknowledge from threads of their own, as connections do.
  class Answering final : public CacheHolder {
   public:
    explicit Answering(OpenFiles& files) : files_(files) {}
    void caching_breaks(const CacheBreak& broken) override {
      if (broken.acknowledge) (void)files_.acknowledge(*broken.lease, broken.to).ok();
    }

   private:
    OpenFiles& files_;
  };
  std::atomic<int> broken_rules = 0;
  const auto work = [&](char client) -> Task<void> {
    const auto holder = std::make_shared<Answering>(table);
    for (int i = 0; i < 300; ++i) {
      FileOpen request = wanting("RWH", nullptr, static_cast<char>('0' + i % 3), client);
      request.caching.holder = holder;
      auto opened = co_await table.open(request);
      if (!opened) {
        ++broken_rules;
        continue;
      }
      if (!table.check_io(*opened, {0, 1}, i % 2 == 0)) ++broken_rules;
      (void)verdict(table, i % 4 == 0 ? FileOperation::kPutRange : FileOperation::kGetFile);
      if (!table.close(*opened)) ++broken_rules;
    }
  };
  std::vector<std::thread> threads;
  for (char client = 'a'; client < 'e'; ++client)
    threads.emplace_back([&, client] { RunLoop::run(work(client)); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(broken_rules, 0);
  EXPECT_TRUE(table.list(kRootKey, true, 0, 1).empty());
  EXPECT_EQ(verdict(table, FileOperation::kDeleteFile), std::nullopt);
}

TEST_F(Caching, IsTakenByWhoSetsTheLengthThatAFileHas) {
  const HandleId reader = must_open(table, wanting("R", a, '1'));
  const HandleId writer = must_open(table, file_open(kWriteAccess, kFullAccess));
  ASSERT_EQ(held(reader), "R");
  EXPECT_TRUE(table.check_io(writer, {5, 0}, true).ok());
  EXPECT_EQ(held(reader), "-");
}

}  // namespace
}  // namespace kyanite::tree
