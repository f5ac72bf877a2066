// What was written through handles and could not be stored.
#include <gtest/gtest.h>

#include <algorithm>

#include "tree/drafts.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

class FailingStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    if (full) co_return store::Error::kFull;
    for (const auto& write : commit.writes) {
      if (write.record == nullptr) continue;
      for (const auto& ref : write.record->refs) {
        if (!synced && is_unsynced(ref)) co_return store::Error::kFull;
      }
    }
    co_return co_await MemoryStore::commit(std::move(commit));
  }
  Task<store::Result<store::Ref>> append(Buffer bytes) override {
    if (appends_left && (*appends_left)-- == 0) co_return store::Error::kFull;
    auto ref = co_await MemoryStore::append(std::move(bytes));
    if (full && ref) unsynced.push_back(*ref);
    ++appended;
    co_return ref;
  }
  store::Hold keep(std::vector<store::Ref>) override {
    ++kept;
    return store::Hold(std::shared_ptr<void>(nullptr, [this](void*) { --kept; }));
  }
  Task<store::Result<os::Bytes>> read_run(store::Ref ref, uint32_t offset, uint32_t length,
                                          bool prefer_file) override {
    if (forgets && is_unsynced(ref)) co_return *forgets;
    auto bytes = co_await MemoryStore::read_run(ref, offset, length, prefer_file);
    if (lies && bytes && is_unsynced(ref)) ++std::get<Buffer>(*bytes).data()[0];
    co_return bytes;
  }
  bool is_unsynced(const store::Ref& ref) const {
    return std::find(unsynced.begin(), unsynced.end(), ref) != unsynced.end();
  }
  Task<store::Result<store::RecordPtr>> get(const store::Key& key) override {
    if (broken) co_return store::Error::kIo;
    if (rotten) co_return store::Error::kCorrupt;
    co_return co_await MemoryStore::get(key);
  }
  bool full = false;  // Nothing can be committed, and what is appended is never synced.
  std::optional<store::Error> forgets = {};  // What was not synced cannot be read either,
  bool synced = false;                       // It was after all.
  bool lies = false;                         // or is not what was written.
  bool broken = false;
  bool rotten = false;
  std::optional<int> appends_left;
  size_t appended = 0;
  int kept = 0;  // Holds of what drafts have.
  std::vector<store::Ref> unsynced;
};

TEST(WritesThatFail, AreKeptAndStoredLater) {
  FailingStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  EXPECT_EQ(files.write(file, 0, "first "), "ok");
  store.full = true;
  EXPECT_EQ(files.flush(file), describe(store::Error::kFull));
  EXPECT_EQ(files.write(file, 6, "second"), "ok");
  EXPECT_EQ(files.read(file), "first second");
  EXPECT_EQ(files.stored("file"), "");
  store.full = false;
  EXPECT_EQ(files.flush(file), "ok");
  EXPECT_EQ(files.stored("file"), "first second");
  EXPECT_EQ(files.close(file), "ok");
}

TEST(WritesThatFail, AreWrittenAnewWhereTheDiskFailedToSync) {
  for (const bool forgets : {false, true}) {
    FailingStore store;
    HandleTree files(store);
    Opened file = files.open("file");
    const std::string bytes = store::pattern(100'000, 1);
    store.full = true;
    EXPECT_EQ(files.write(file, 0, bytes), "ok");
    EXPECT_EQ(files.write(file, 200'000, "small"), "ok");
    EXPECT_EQ(files.flush(file), describe(store::Error::kFull));
    store.full = false;
    if (forgets) store.forgets = store::Error::kCorrupt;
    for (size_t i = 0; forgets && i < Drafts::kMaxUnreadable; ++i)
      EXPECT_EQ(files.flush(file), describe(store::Error::kCorrupt));
    EXPECT_EQ(files.flush(file), "ok");
    EXPECT_EQ(files.close(file), "ok");
    const std::string before = forgets ? std::string(bytes.size(), '\0') : bytes;
    EXPECT_TRUE(files.stored("file") == before + std::string(100'000, '\0') + "small");
    EXPECT_TRUE(files.is_idle());
  }
}

// What is trusted because it was read a moment ago may have changed since.
TEST(WritesThatFail, AreNotWrittenAnewByWhatTheyAreNot) {
  FailingStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  store.full = true;
  EXPECT_EQ(files.write(file, 0, store::pattern(100'000, 1)), "ok");
  EXPECT_EQ(files.flush(file), describe(store::Error::kFull));
  store.full = false;
  store.lies = true;
  EXPECT_EQ(files.flush(file), describe(store::Error::kCorrupt));
  store.lies = false;
  EXPECT_EQ(files.close(file), "ok");
  EXPECT_TRUE(files.stored("file") == store::pattern(100'000, 1));
}

TEST(WritesThatFail, AreGivenUpWhenTheDiskHasFailedForLong) {
  FailingStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  Opened other = files.open("other");
  store.full = true;
  EXPECT_EQ(files.write(file, 0, store::pattern(100'000, 1)), "ok");
  EXPECT_EQ(files.write(other, 0, "small"), "ok");
  EXPECT_EQ(files.flush(file), describe(store::Error::kFull));
  store.forgets = store::Error::kIo;
  auto all = RunLoop::run(files.open_files.drafts().settle_share(files.tree.space));
  EXPECT_FALSE(all.ok());
  store.full = false;
  for (size_t i = 0; i < 2 * Drafts::kMaxUnreadable; ++i)
    EXPECT_EQ(files.flush(file), describe(store::Error::kIo));
  files.clock.advance_seconds(Drafts::kMaxUnreadableSeconds);
  EXPECT_EQ(files.flush(file), describe(store::Error::kCorrupt)) << "that is told";
  EXPECT_EQ(files.flush(file), "ok");
  EXPECT_EQ(files.close(file), "ok");
  EXPECT_EQ(files.close(other), "ok");
  EXPECT_TRUE(files.is_idle());
}

TEST(WritesThatFail, AreToldByACloseThatGivesThemUp) {
  FailingStore store;
  HandleTree files(store);
  for (const bool deletes : {false, true}) {
    const std::string name = deletes ? "deleted" : "file";
    Opened file = files.open(name, {Disposition::kCreate, Kind::kFile, "RWD", "RWD", deletes});
    Opened other = files.open(name, {Disposition::kOpen, Kind::kFile, "R"});
    store.full = true;
    EXPECT_EQ(files.write(file, 0, store::pattern(100'000, 1)), "ok");
    EXPECT_EQ(files.flush(file), describe(store::Error::kFull));
    store.full = false;
    store.forgets = store::Error::kCorrupt;
    // One of them settles twice, before its handle is gone and after.
    for (size_t i = deletes ? 1 : 2; i < Drafts::kMaxUnreadable; ++i)
      EXPECT_EQ(files.flush(file), describe(store::Error::kCorrupt));
    EXPECT_EQ(files.close(file), describe(store::Error::kCorrupt));
    EXPECT_EQ(files.close(other), "ok");
    store.forgets.reset();
  }
}

// The disk loses what was written, and it is the keeper that finds out.
TEST(WritesThatFail, AreToldToTheirWriters) {
  const std::string lost = describe(store::Error::kCorrupt);
  for (const bool flushes : {true, false}) {
    FailingStore store;
    HandleTree files(store);
    Opened file = files.open("file");
    Opened other = files.open("file");
    Opened reader = files.open("file", {Disposition::kOpen, Kind::kFile, "R"});
    store.full = true;
    EXPECT_EQ(files.write(file, 0, store::pattern(100'000, 1)), "ok");
    EXPECT_EQ(files.write(file, 200'000, "small"), "ok");
    Drafts& drafts = files.open_files.drafts();
    for (size_t i = 0; i <= Drafts::kMaxUnreadable; ++i) {
      files.clock.advance_seconds(Drafts::kLongestRest / kTicksPerSecond);
      files.settle_older();
      store.full = false;
      store.forgets = store::Error::kCorrupt;
    }
    EXPECT_EQ(files.stored("file").size(), 200'005u) << "the rest is stored";
    // Without times, which are told later.
    EXPECT_TRUE(RunLoop::run(drafts.settle_all()).ok());
    if (flushes) {
      EXPECT_EQ(files.flush(file), lost);
      EXPECT_EQ(files.flush(file), "ok") << "once";
      EXPECT_EQ(files.close(file), "ok");
    } else {
      EXPECT_EQ(files.close(file), lost);
    }
    EXPECT_EQ(files.close(other), lost) << "it may have been its bytes";
    EXPECT_EQ(files.close(reader), "ok");
    EXPECT_TRUE(files.is_idle());
  }
}

// Or the disk would be full of what is written again and again.
TEST(WritesThatFail, AreTriedAgainLaterAndLater) {
  FailingStore store;
  HandleTree files(store);
  Drafts& drafts = files.open_files.drafts();
  Opened file = files.open("file");
  EXPECT_EQ(files.write(file, 0, "bytes"), "ok");
  store.full = true;
  files.clock.advance_seconds(1);
  int tries = 0;
  for (int seconds = 0; seconds < 60; ++seconds) {
    files.clock.advance_seconds(1);
    for (const auto& each : drafts.old(files.clock.moment(), kTicksPerSecond)) {
      const bool stored = RunLoop::run(drafts.settle_old(each.file, files.clock.moment()));
      EXPECT_EQ(stored, each.file != file.file) << "times of directories are promised to nobody";
      tries += stored ? 0 : 1;
    }
  }
  EXPECT_GE(tries, 9);
  EXPECT_LE(tries, 12) << "after 1, 1, 1, 2, 4, 8, 8 seconds";
  store.full = false;
  EXPECT_EQ(files.flush(file), "ok") << "who asks for it does not wait";
  EXPECT_EQ(files.close(file), "ok");
}

// What lies below cannot be read: what was written is not at fault, and not written again.
TEST(WritesThatFail, StayWhereTheyAreBesideWhatIsRotten) {
  FailingStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  EXPECT_EQ(files.write(file, 0, store::pattern(100'000, 1)), "ok");
  store.rotten = true;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(files.flush(file), describe(store::Error::kCorrupt));
  EXPECT_EQ(store.appended, 2u) << "once more";
  store.rotten = false;
  EXPECT_EQ(files.close(file), "ok");
  EXPECT_TRUE(files.stored("file") == store::pattern(100'000, 1));
}

// The disk took it twice, and does not have it any more.
TEST(WritesThatFail, AreNotStoredWhenTheyAreRotten) {
  FailingStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  store.full = true;
  EXPECT_EQ(files.write(file, 0, store::pattern(100'000, 1)), "ok");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(files.flush(file), describe(store::Error::kFull));
  store.full = false;
  store.synced = true;
  store.forgets = store::Error::kCorrupt;
  for (size_t i = 0; i < Drafts::kMaxUnreadable; ++i)
    EXPECT_EQ(files.flush(file), describe(store::Error::kCorrupt)) << i;
  EXPECT_EQ(files.flush(file), "ok") << "it was told";
  EXPECT_TRUE(files.stored("file") == std::string(100'000, '\0'));
  EXPECT_EQ(files.close(file), "ok");
}

// What is written again takes the place of what was written before, also if that ends half way.
TEST(WritesThatFail, KeepInExtentsOnlyWhatTheyHave) {
  FailingStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  store.full = true;
  for (uint64_t i = 0; i < 4; ++i)
    EXPECT_EQ(files.write(file, i * 100'000, store::pattern(100'000, i)), "ok");
  EXPECT_EQ(store.kept, 4);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(files.flush(file), describe(store::Error::kFull));
    store.appends_left = 2;
  }
  EXPECT_EQ(store.kept, 1);
  store.full = false;
  store.appends_left.reset();
  EXPECT_EQ(files.close(file), "ok");
  EXPECT_EQ(store.kept, 0);
  EXPECT_EQ(files.stored("file").size(), 400'000u);
}

TEST(WritesThatFail, AreNotTakenOnceThereIsTooMuch) {
  FailingStore store;
  HandleTree files(store);
  const std::string full = describe(store::Error::kFull);
  const std::string bytes(32 * 1024, 'x');
  Drafts& drafts = files.open_files.drafts();
  std::vector<Opened> opened;
  for (int i = 0; i < 20; ++i) opened.push_back(files.open("file" + std::to_string(i)));
  store.full = true;
  for (Opened& file : opened) {
    std::string said = "ok";
    for (uint64_t i = 0; said == "ok" && i < 2 * Drafts::kMaxInlineBytes / bytes.size(); ++i)
      said = files.write(file, i * bytes.size(), bytes);
    EXPECT_EQ(said, full);
    EXPECT_EQ(files.write(file, 0, "more"), full);
  }
  EXPECT_EQ(files.read(opened.front(), 0, 4), "xxxx") << "what was taken is there";
  EXPECT_EQ(files.state(opened.back()).content.length, 0u) << "others have all there is";
  EXPECT_LE(drafts.inline_bytes(), Drafts::kMaxInlineBytesOfAll + bytes.size());
  store.full = false;
  EXPECT_EQ(files.write(opened.back(), 0, "room"), "ok");
  for (Opened& file : opened) EXPECT_EQ(files.close(file), "ok");
  EXPECT_EQ(drafts.inline_bytes(), 0u);
}

TEST(WritesThatFail, AreKeptByAFileThatCannotBeRemoved) {
  FailingStore store;
  HandleTree files(store);
  Opened file = files.open("file", {Disposition::kCreate, Kind::kFile, "RWD", "RWD", true});
  EXPECT_EQ(files.write(file, 0, "bytes"), "ok");
  store.full = true;
  EXPECT_EQ(files.close(file), describe(store::Error::kFull));
  store.full = false;
  EXPECT_TRUE(RunLoop::run(files.open_files.drafts().settle_all()).ok());
  EXPECT_EQ(files.stored("file"), "bytes");
}

// Nobody is kept from looking at the directory, or told to come again.
TEST(WritesThatFail, TimesOfDirectoriesAreForgotten) {
  FailingStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  EXPECT_EQ(files.close(file), "ok");
  EXPECT_TRUE(files.open_files.drafts().any());
  store.full = true;
  files.clock.advance_seconds(1);
  files.settle_older();
  EXPECT_TRUE(files.open_files.idle());
}

TEST(WritesThatFail, DoNotKeepTheFileFromBeingDeleted) {
  FailingStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  EXPECT_EQ(files.write(file, 0, "bytes"), "ok");
  store.full = true;
  EXPECT_EQ(files.close(file), describe(store::Error::kFull));
  EXPECT_EQ(RunLoop::run(files.note("file", "x")), describe(store::Error::kFull));
  store.full = false;  // For deletions there is always room.
  EXPECT_EQ(RunLoop::run(files.remove("file")), "ok");
  EXPECT_FALSE(files.open_files.drafts().has(file.file));
  EXPECT_TRUE(files.is_idle());
}

TEST(WritesThatFail, AreNotWaitedForByWhoMakesRoom) {
  FailingStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  EXPECT_EQ(files.write(file, 0, "bytes"), "ok");
  Drafts& drafts = files.open_files.drafts();
  store.full = true;
  EXPECT_FALSE(RunLoop::run(drafts.settle_share(files.tree.space)).ok());
  RunLoop::run(drafts.settle_share_if_possible(files.tree.space, {}));
  EXPECT_TRUE(drafts.has(file.file));
  store.full = false;
  RunLoop::run(drafts.settle_share_if_possible(files.tree.space, {}));
  EXPECT_EQ(files.stored("file"), "bytes");
  EXPECT_EQ(files.close(file), "ok");
}

TEST(WritesOfAShare, AreWaitedForUntilADeadline) {
  store::MemoryStore store;
  HandleTree files(store);
  Drafts& drafts = files.open_files.drafts();
  Opened file = files.open("file");
  EXPECT_EQ(files.write(file, 0, "bytes"), "ok");
  const Deadline over(files.clock, 0);
  EXPECT_TRUE(RunLoop::run(drafts.settle_share(files.tree.space, over)).error() ==
              Error(store::Error::kTimeout));
  EXPECT_EQ(files.stored("file"), "");
  EXPECT_TRUE(RunLoop::run(drafts.settle_share(files.tree.space, Deadline(files.clock, 1))).ok());
  EXPECT_EQ(files.stored("file"), "bytes");
  EXPECT_EQ(files.close(file), "ok");
}

TEST(WritesThatFail, LeaveNoHandleBehind) {
  FailingStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  EXPECT_EQ(files.write(file, 0, "bytes"), "ok");
  store.broken = true;
  EXPECT_EQ(files.close(file), describe(store::Error::kIo));
  store.broken = false;
  EXPECT_FALSE(files.open_files.find(file.handle).has_value());
  EXPECT_TRUE(RunLoop::run(files.open_files.drafts().settle_all()).ok());
  EXPECT_EQ(files.stored("file"), "bytes");
  EXPECT_TRUE(files.is_idle());
}

}  // namespace
}  // namespace kyanite::tree
