// What is written under a lock is seen by others as a whole, or not at all.
#include <gtest/gtest.h>

#include <set>

#include "store/interleaving.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

class LockedUpdates : public testing::Test {
 protected:
  Result<void> ask(FileOperation operation) {
    if (operation != FileOperation::kGetFile)
      return outcome_of(files_.open_files.admit(file_.file, operation, awaited_));
    return files_.open_files.admit_reader(file_.file, operation, {0, 4}, awaited_);
  }
  static Result<void> outcome_of(Result<OpenFiles::Admission> admitted) {
    if (!admitted) return admitted.error();
    return {};
  }
  void lock() {
    EXPECT_TRUE(RunLoop::run(files_.open_files.lock(file_.handle, {{{0, 4}, true}})).ok());
  }
  void unlock() { EXPECT_TRUE(files_.open_files.unlock(file_.handle, {0, 4}).ok()); }
  void wait() {
    EXPECT_TRUE(RunLoop::run(files_.open_files.given_back(file_.file, {})).ok());
    EXPECT_FALSE(files_.open_files.drafts().has(file_.file));
  }

  store::MemoryStore store_;
  HandleTree files_{store_};
  Opened file_ = files_.open("file");
  OpenFiles::Awaited awaited_;
};

TEST_F(LockedUpdates, AreStoredAnewForWhoHasWaited) {
  for (const auto operation :
       {FileOperation::kGetFile, FileOperation::kPutRange, FileOperation::kSetFileProperties}) {
    awaited_ = {};
    EXPECT_EQ(files_.write(file_, 0, "aa"), "ok");
    EXPECT_EQ(outcome(ask(operation)), text_of(Error(Refusal::kCached)));
    wait();
    // What comes later is no matter,
    EXPECT_EQ(files_.write(file_, 0, "bb"), "ok");
    EXPECT_EQ(outcome(ask(operation)), "ok");
    // unless some of it was stored and some was not.
    lock();
    EXPECT_EQ(files_.write(file_, 0, "cc"), "ok");
    unlock();
    EXPECT_EQ(outcome(ask(operation)), text_of(Error(Refusal::kCached)));
    wait();
    EXPECT_EQ(files_.write(file_, 0, "dd"), "ok");
    EXPECT_EQ(outcome(ask(operation)), "ok");
    EXPECT_EQ(files_.flush(file_), "ok");
  }
}

// Somebody locks, writes and gives back again and again.
TEST_F(LockedUpdates, AreNotWaitedForWithoutEnd) {
  for (const auto operation : {FileOperation::kGetFile, FileOperation::kPutRange}) {
    awaited_ = {};
    EXPECT_EQ(files_.write(file_, 0, "a"), "ok");
    std::string said;
    int rounds = 0;
    for (; rounds < 100; ++rounds) {
      said = outcome(ask(operation));
      if (said != text_of(Error(Refusal::kCached))) break;
      wait();
      lock();
      EXPECT_EQ(files_.write(file_, 0, "b"), "ok");
      unlock();
    }
    EXPECT_EQ(said, text_of(Error(Refusal::kLockConflict)));
    EXPECT_EQ(rounds, kMostLooksAtLocks + 1);
  }
}

TEST_F(LockedUpdates, AreNoMatterForWhoReadsNoBytes) {
  const auto ask_about = [&] {
    return outcome(files_.open_files.admit_reader(file_.file, FileOperation::kGetFileProperties, {},
                                                  awaited_));
  };
  EXPECT_EQ(files_.write(file_, 0, "a"), "ok");
  EXPECT_EQ(ask_about(), text_of(Error(Refusal::kCached)));
  wait();
  lock();
  EXPECT_EQ(files_.write(file_, 0, "b"), "ok");
  unlock();
  EXPECT_EQ(ask_about(), "ok");
}

TEST_F(LockedUpdates, AreRefusedAtOnce) {
  lock();
  EXPECT_EQ(files_.write(file_, 0, "aa"), "ok");
  for (const auto operation : {FileOperation::kGetFile, FileOperation::kPutRange})
    EXPECT_EQ(outcome(ask(operation)), text_of(Error(Refusal::kLockConflict)));
  EXPECT_TRUE(files_.open_files.drafts().has(file_.file)) << "nothing was stored for that";
  unlock();
  Opened alone = files_.open("alone", {Disposition::kCreate, Kind::kFile, "RW", ""});
  EXPECT_EQ(files_.write(alone, 0, "a"), "ok");
  EXPECT_EQ(verdict(files_.open_files, FileOperation::kGetFile, alone.file),
            Refusal::kSharingViolation);
}

// The locks of a file that is forgotten meanwhile are not.
TEST_F(LockedUpdates, AreRememberedWhenTheFileIsClosed) {
  EXPECT_EQ(files_.write(file_, 0, "aa"), "ok");
  EXPECT_EQ(outcome(ask(FileOperation::kGetFile)), text_of(Error(Refusal::kCached)));
  wait();
  lock();
  EXPECT_EQ(files_.write(file_, 0, "bb"), "ok");
  EXPECT_TRUE(files_.open_files.force_close(file_.file, false, file_.handle));
  EXPECT_EQ(outcome(ask(FileOperation::kGetFile)), text_of(Error(Refusal::kCached)));
  wait();
  EXPECT_EQ(outcome(ask(FileOperation::kGetFile)), "ok");
}

Task<void> updates(HandleTree& files, Opened& writer, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const char letter = static_cast<char>('a' + i);
    std::vector<RangeLock> locks(1, RangeLock{{0, 4}, true});
    auto locked = co_await files.open_files.lock(writer.handle, std::move(locks));
    EXPECT_TRUE(locked.ok());
    for (uint64_t offset = 0; offset < 4; offset += 2) {
      EXPECT_EQ(co_await files.write_task(writer, offset, std::string(2, letter)), "ok");
      co_await Executor::yield();
    }
    EXPECT_TRUE(files.open_files.unlock(writer.handle, {0, 4}).ok());
    co_await Executor::yield();
  }
}

Task<void> keeps(HandleTree& files, FileKey file) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE((co_await files.open_files.drafts().settle(file)).ok());
    co_await Executor::yield();
  }
}

// What somebody without a handle reads: the bytes, or why there are none.
Task<std::string> gets(HandleTree& files, store::Store& store) {
  store::Occasion occasion(store, files.lines, files.clock);
  const Rules rules{Kind::kFile, FileOperation::kGetFile, {}, false};
  const Path path{"file"};
  const Reading all = [](const Entry& file) { return ByteRange{0, file.content.length}; };
  while (true) {
    auto located = co_await read_entry(occasion, files.tree, path, rules, all);
    if (!located) co_return "! " + text_of(located.error());
    const auto& content = located->found.entry->content;
    auto reader = co_await content::Reader::open(store, files.tree.content_place(), content, 0,
                                                 content.length, located->found.guard());
    if (!reader) continue;
    std::string text;
    while (true) {
      auto next = co_await (*reader)->next(false);
      if (!next || os::size_of(*next) == 0) break;
      text += store::text_of(*next);
    }
    if (text.size() == content.length) co_return text;
  }
}

TEST(LockedUpdatesInARace, AreReadAsAWhole) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    store::InterleavedStore store;
    HandleTree files(store);
    Opened writer = files.open("file");
    EXPECT_EQ(files.write(writer, 0, "0000"), "ok");
    std::string got;
    auto get = [&]() -> Task<void> { got = co_await gets(files, store); };
    std::vector<Task<void>> tasks;
    tasks.push_back(updates(files, writer, 4));
    if (seed % 2 == 0) tasks.push_back(keeps(files, writer.file));
    tasks.push_back(get());
    store::Interleaving(seed).run(std::move(tasks), [] {});
    if (got.front() != '!') {
      EXPECT_EQ(got, std::string(4, got[0])) << seed;
    }
    seen.insert(got);
    EXPECT_EQ(files.close(writer), "ok");
  }
  EXPECT_TRUE(seen.contains("! " + text_of(Error(Refusal::kLockConflict))));
  EXPECT_GE(seen.size(), 4u);
}

// Nor does anybody write between two halves.
TEST(LockedUpdatesInARace, AreWrittenOverAsAWhole) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    store::InterleavedStore store;
    HandleTree files(store);
    Opened writer = files.open("file");
    EXPECT_EQ(files.write(writer, 0, "0000"), "ok");
    std::string before;
    auto put = [&]() -> Task<void> {
      store::Occasion occasion(store, files.lines, files.clock);
      const Rules rules{Kind::kFile, FileOperation::kPutRange};
      const Path path{"file"};
      const Edit edit = [&](Entry& file, store::Commit&,
                            const Located& located) -> Task<Result<void>> {
        before.clear();
        auto reader =
            co_await content::Reader::open(store, files.tree.content_place(), file.content, 0,
                                           file.content.length, located.found.guard());
        if (!reader) co_return Error(reader.error());
        while (true) {
          auto next = co_await (*reader)->next(false);
          if (!next) co_return Error(next.error());
          if (os::size_of(*next) == 0) break;
          before += store::text_of(*next);
        }
        touch(file, occasion.now);
        co_return Result<void>();
      };
      if (!co_await change_entry(occasion, files.tree, path, rules, edit)) before.clear();
    };
    std::vector<Task<void>> tasks;
    tasks.push_back(updates(files, writer, 4));
    if (seed % 2 == 0) tasks.push_back(keeps(files, writer.file));
    tasks.push_back(put());
    store::Interleaving(seed).run(std::move(tasks), [] {});
    if (!before.empty()) {
      EXPECT_EQ(before, std::string(4, before[0])) << seed;
    }
    EXPECT_EQ(files.close(writer), "ok");
  }
}

}  // namespace
}  // namespace kyanite::tree
