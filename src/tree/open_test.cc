// Opening and closing: dispositions, kinds, share modes, marks for deletion, renames by handle.
#include "tree/open.h"

#include <gtest/gtest.h>

#include "base/started.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

using Order = HandleTree::Order;

class Opens : public testing::Test {
 protected:
  store::MemoryStore store_;
  HandleTree files_{store_};
};

std::string refusal(Refusal why) { return "refusal " + std::to_string(static_cast<int>(why)); }

TEST_F(Opens, DispositionsDecideWhatHappens) {
  struct Row {
    Disposition disposition;
    std::string absent;
    std::string present;
  };
  const Row rows[] = {{Disposition::kSupersede, "created", "superseded"},
                      {Disposition::kOpen, "not found", "opened"},
                      {Disposition::kCreate, "created", "exists"},
                      {Disposition::kOpenIf, "created", "opened"},
                      {Disposition::kOverwrite, "not found", "overwritten"},
                      {Disposition::kOverwriteIf, "created", "overwritten"}};
  int number = 0;
  for (const auto& row : rows) {
    const std::string name = "file" + std::to_string(number++);
    EXPECT_EQ(files_.says(name, {row.disposition}), row.absent) << number;
    Opened made = files_.open(name);
    EXPECT_EQ(files_.write(made, 0, "bytes"), "ok");
    EXPECT_EQ(files_.close(made), "ok");
    EXPECT_EQ(files_.says(name, {row.disposition}), row.present) << number;
    const bool emptied = row.present == "superseded" || row.present == "overwritten";
    EXPECT_EQ(files_.stored(name), emptied ? "" : "bytes") << number;
  }
  EXPECT_TRUE(files_.is_idle());
}

TEST_F(Opens, KindsMustBeRight) {
  ASSERT_EQ(files_.says("directory", {Disposition::kCreate, Kind::kDirectory}), "created");
  ASSERT_EQ(files_.says("file", {Disposition::kCreate}), "created");
  EXPECT_EQ(files_.says("file", {Disposition::kOpen, Kind::kDirectory}),
            text_of(Error(Reason::kNotDirectory)));
  EXPECT_EQ(files_.says("directory", {Disposition::kOpen, Kind::kFile}), "is directory");
  EXPECT_EQ(files_.says("directory", {Disposition::kOverwriteIf, Kind::kEither}), "is directory");
  EXPECT_EQ(files_.says("directory", {Disposition::kOpen, Kind::kEither}), "opened");
  EXPECT_EQ(files_.says("", {Disposition::kOpen, Kind::kEither, "R"}), "opened");
  EXPECT_EQ(files_.says("file/x", {Disposition::kOpenIf}), "no parent");
}

TEST_F(Opens, ShareModesHoldBothWaysAndAlsoForWhatEmpties) {
  Opened first = files_.open("file", {Disposition::kCreate, Kind::kFile, "R", "R"});
  EXPECT_EQ(files_.says("file", {Disposition::kOpen, Kind::kFile, "R", "R"}), "opened");
  EXPECT_EQ(files_.says("file", {Disposition::kOpen, Kind::kFile, "W", "RWD"}),
            refusal(Refusal::kSharingViolation));
  EXPECT_EQ(files_.says("file", {Disposition::kOpen, Kind::kFile, "R", "W"}),
            refusal(Refusal::kSharingViolation));
  // Only reads, but empties.
  EXPECT_EQ(files_.says("file", {Disposition::kOverwriteIf, Kind::kFile, "R", "RWD"}),
            refusal(Refusal::kSharingViolation));
  EXPECT_EQ(files_.close(first), "ok");
  EXPECT_EQ(files_.says("file", {Disposition::kOverwriteIf, Kind::kFile, "R", "RWD"}),
            "overwritten");
}

TEST_F(Opens, ALeaseOfRestLetsOthersOnlyRead) {
  ASSERT_EQ(files_.says("file", {Disposition::kCreate}), "created");
  store::KeyedLocks locks;
  store::Occasion occasion(store_, locks, files_.clock);
  const Edit edit = [&](Entry& entry, store::Commit&, const Located&) -> Task<Result<void>> {
    auto taken = concurrency::acquire_lease(entry.lease, "11111111-1111-1111-1111-111111111111",
                                            concurrency::kInfiniteLease, occasion.now);
    EXPECT_TRUE(taken.ok());
    co_return Result<void>();
  };
  ASSERT_EQ(outcome(RunLoop::run(change_entry(occasion, files_.tree, {"file"}, Rules(), edit))),
            "ok");
  EXPECT_EQ(files_.says("file", {Disposition::kOpen, Kind::kFile, "R"}), "opened");
  for (const std::string_view access : {"W", "D", "RW"}) {
    EXPECT_EQ(files_.says("file", {Disposition::kOpen, Kind::kFile, access}),
              refusal(Refusal::kSharingViolation));
  }
  EXPECT_EQ(files_.says("file", {Disposition::kOverwrite, Kind::kFile, "R"}),
            refusal(Refusal::kSharingViolation));
}

TEST_F(Opens, DeleteOnCloseTakesTheFileAwayWithItsLastHandle) {
  Opened first = files_.open("file");
  Opened deleter = files_.open("file", {Disposition::kOpen, Kind::kFile, "D", "RWD", true});
  EXPECT_EQ(files_.write(first, 0, "bytes"), "ok");
  EXPECT_EQ(files_.says("file", {Disposition::kOpen}), "opened");  // Nothing is marked yet.
  EXPECT_EQ(files_.close(deleter), "ok");
  EXPECT_EQ(files_.says("file", {Disposition::kOpen}), refusal(Refusal::kDeletePending));
  EXPECT_EQ(files_.read(first), "bytes");
  EXPECT_EQ(files_.close(first), "ok");
  EXPECT_EQ(files_.says("file", {Disposition::kOpen}), "not found");
  EXPECT_TRUE(files_.is_idle());
}

TEST_F(Opens, AMarkIsWithdrawnByAnyHandleThatMayDelete) {
  Opened first = files_.open("file");
  Opened second = files_.open("file");
  EXPECT_EQ(files_.mark(first), "ok");
  EXPECT_EQ(files_.says("file", {Disposition::kOpen}), refusal(Refusal::kDeletePending));
  EXPECT_EQ(files_.mark(second, false), "ok");
  EXPECT_EQ(files_.close(first), "ok");
  EXPECT_EQ(files_.close(second), "ok");
  EXPECT_EQ(files_.says("file", {Disposition::kOpen}), "opened");
}

TEST_F(Opens, WhatIsReadOnlyOrFullIsNotMarked) {
  Opened file = files_.open(
      "file", {Disposition::kCreate, Kind::kFile, "RWD", "RWD", false, kReadOnlyAttribute});
  EXPECT_EQ(files_.mark(file), "read-only");
  EXPECT_EQ(files_.says("file", {Disposition::kOpen, Kind::kFile, "D", "RWD", true}), "read-only");
  EXPECT_EQ(files_.close(file), "ok");
  Opened directory = files_.open("directory", {Disposition::kCreate, Kind::kDirectory});
  ASSERT_EQ(files_.says("directory/inside", {}), "created");
  Watchers& watchers = files_.open_files.watchers();
  const auto watching = watchers.watch(directory.file, false, kFileNameChanged);
  Started waits(watchers.next(*watching, 1));
  EXPECT_EQ(files_.mark(directory), "not empty");
  EXPECT_FALSE(waits.is_done()) << "nobody has noticed";
  // Others come in.
  EXPECT_EQ(files_.says("directory/more", {}), "created");
  EXPECT_TRUE(waits.is_done());
  watchers.close(*watching);
  EXPECT_EQ(files_.close(directory), "ok");
}

TEST_F(Opens, NothingIsMadeInADirectoryThatWaitsToBeDeleted) {
  Opened directory = files_.open("directory", {Disposition::kCreate, Kind::kDirectory});
  EXPECT_EQ(files_.mark(directory), "ok");
  EXPECT_EQ(files_.says("directory/inside", {}), refusal(Refusal::kDeletePending));
  EXPECT_EQ(files_.close(directory), "ok");
  EXPECT_EQ(files_.says("directory/inside", {}), "no parent");
  EXPECT_TRUE(files_.is_idle());
}

TEST_F(Opens, HandlesFollowRenames) {
  ASSERT_EQ(files_.says("a", {Disposition::kCreate, Kind::kDirectory}), "created");
  Opened mover = files_.open("file");
  Opened other = files_.open("file");
  EXPECT_EQ(files_.write(other, 0, "before "), "ok");
  EXPECT_EQ(files_.rename(mover, "a/moved"), "ok");
  EXPECT_EQ(files_.write(other, 7, "after"), "ok");
  EXPECT_EQ(files_.read(mover), "before after");
  EXPECT_EQ(files_.read(other), "before after");
  EXPECT_EQ(files_.close(other), "ok");
  EXPECT_EQ(files_.stored("a/moved"), "before after");
  EXPECT_EQ(files_.rename(mover, "back"), "ok");
  EXPECT_EQ(files_.close(mover), "ok");
  EXPECT_EQ(files_.stored("back"), "before after");
}

TEST_F(Opens, RenamesOfRestAreFollowedToo) {
  Opened handle = files_.open("file");
  EXPECT_EQ(files_.write(handle, 0, "one"), "ok");
  EXPECT_EQ(RunLoop::run(files_.move("file", "moved", Kind::kFile)), "ok");
  EXPECT_EQ(files_.write(handle, 3, " two"), "ok");
  EXPECT_EQ(files_.flush(handle), "ok");
  EXPECT_EQ(files_.stored("moved"), "one two");
  EXPECT_EQ(files_.close(handle), "ok");
}

// What is deleted by its last close is deleted where it is then.
TEST_F(Opens, DeletionsFollowRenamesInFlight) {
  for (const bool on_close : {true, false}) {
    Opened file = files_.open("file", {Disposition::kCreate, Kind::kFile, "RWD", "RWD", on_close});
    ASSERT_EQ(files_.write(file, 0, "bytes"), "ok");
    if (!on_close) {
      ASSERT_EQ(files_.mark(file), "ok");
    }
    OpenFiles::Precedence precedence;
    auto moving = files_.open_files.admit_rename_by(file.handle, false, precedence);
    ASSERT_TRUE(moving.ok());
    std::optional<std::string> closed;
    const auto close = [](HandleTree& files, store::Store& store, Opened& opened,
                          std::optional<std::string>& out) -> Task<void> {
      store::Occasion occasion(store, files.lines, files.clock);
      out = outcome(co_await tree::close(occasion, opened, false));
    };
    detach(close(files_, store_, file, closed));
    EXPECT_FALSE(closed);
    const auto key_of = [&](const char* name) {
      return entry_key(files_.tree.space, kRootId, folded_name(files_.tree, name));
    };
    auto record = RunLoop::run(store_.get(key_of("file")));
    Entry entry = *store::decode<Entry>((*record)->value);
    entry.name = "moved";
    store::Commit commit;
    commit.put(key_of("file"), nullptr);
    commit.put(key_of("moved"), store::to_record(entry));
    ASSERT_TRUE(RunLoop::run(store_.commit(std::move(commit))).ok());
    moving->renamed({kRootId}, "moved");
    *moving = {};
    EXPECT_EQ(closed, "ok");
    EXPECT_EQ(files_.names(""), "") << on_close;
    EXPECT_TRUE(files_.is_idle());
  }
}

// Whoever renames without a handle learns the same as who creates.
TEST_F(Opens, WhatWaitsToBeDeletedIsSaidOfTheDestinationOfARename) {
  ASSERT_EQ(files_.says("file", {}), "created");
  Opened other = files_.open("other");
  ASSERT_EQ(files_.mark(other), "ok");
  Creation replacing;
  replacing.replaces = true;
  for (const Creation& destination : {Creation(), replacing}) {
    EXPECT_EQ(RunLoop::run(files_.move("file", "other", Kind::kFile, destination)),
              refusal(Refusal::kDeletePending));
  }
  EXPECT_EQ(RunLoop::run(files_.create("other")), refusal(Refusal::kDeletePending));
  EXPECT_EQ(files_.close(other), "ok");
  EXPECT_EQ(RunLoop::run(files_.move("file", "other", Kind::kFile)), "ok");
}

TEST_F(Opens, RenamesAreRefusedAsWindowsDoes) {
  Opened file = files_.open("file");
  ASSERT_EQ(files_.says("other", {}), "created");
  ASSERT_EQ(files_.says("directory", {Disposition::kCreate, Kind::kDirectory}), "created");
  EXPECT_EQ(files_.rename(file, "other"), "exists");
  EXPECT_EQ(files_.rename(file, "directory", true), refusal(Refusal::kAccessDenied));
  EXPECT_EQ(files_.rename(file, "nowhere/file"), "no parent");
  Opened other = files_.open("other");
  EXPECT_EQ(files_.rename(file, "other", true), refusal(Refusal::kAccessDenied));
  ASSERT_EQ(files_.mark(other), "ok");  // A file that waits to be deleted is open as well.
  EXPECT_EQ(files_.rename(file, "other", true), refusal(Refusal::kAccessDenied));
  EXPECT_EQ(files_.rename(file, "other"), "exists");
  ASSERT_EQ(files_.mark(other, false), "ok");
  EXPECT_EQ(files_.close(other), "ok");
  EXPECT_EQ(files_.rename(file, "other", true), "ok");
  EXPECT_EQ(files_.close(file), "ok");
  Opened reader = files_.open("other", {Disposition::kOpen, Kind::kFile, "R", "RW"});
  Opened mover = files_.open("other", {Disposition::kOpen, Kind::kFile, "", "RWD"});
  EXPECT_EQ(files_.rename(mover, "x"), refusal(Refusal::kAccessDenied));  // Without the access.
  EXPECT_EQ(files_.close(mover), "ok");
  EXPECT_EQ(files_.close(reader), "ok");
  Opened keeper = files_.open("other", {Disposition::kOpen, Kind::kFile, "", "RW"});
  Opened deleter = files_.open("other", {Disposition::kOpen, Kind::kFile, "D", "RWD"});
  EXPECT_EQ(files_.rename(deleter, "OTHER"), "ok");  // Only the case; who only looks is no matter.
  EXPECT_EQ(files_.close(keeper), "ok");
  EXPECT_EQ(files_.close(deleter), "ok");
}

TEST_F(Opens, ADirectoryWithSomethingOpenBelowStays) {
  Opened directory = files_.open("a", {Disposition::kCreate, Kind::kDirectory});
  Opened below = files_.open("a/file");
  EXPECT_EQ(files_.rename(directory, "b"), refusal(Refusal::kAccessDenied));
  EXPECT_EQ(files_.close(below), "ok");
  EXPECT_EQ(files_.rename(directory, "b"), "ok");
  EXPECT_EQ(files_.close(directory), "ok");
  EXPECT_EQ(outcome(files_.find("b/file")), "ok");
}

TEST_F(Opens, AHandleClosedByForceIsGoodForNothing) {
  Opened file = files_.open("file");
  EXPECT_EQ(files_.write(file, 0, "bytes"), "ok");
  EXPECT_TRUE(files_.open_files.force_close(file.file, false, file.handle));
  EXPECT_EQ(files_.write(file, 0, "more"), refusal(Refusal::kNoSuchHandle));
  EXPECT_EQ(files_.read(file), "! " + refusal(Refusal::kNoSuchHandle));
  EXPECT_EQ(files_.flush(file), refusal(Refusal::kNoSuchHandle));
  EXPECT_EQ(files_.close(file), refusal(Refusal::kNoSuchHandle));
}

TEST_F(Opens, WhatASnapshotShowsIsReadAndNothingElse) {
  Opened file = files_.open("file");
  ASSERT_EQ(files_.write(file, 0, "then"), "ok");
  ASSERT_EQ(files_.flush(file), "ok");
  const Generation shown =
      files_.change_state([](ShareState& state) { return state.take_snapshot(); });
  ASSERT_EQ(files_.write(file, 0, "now!"), "ok");
  ASSERT_EQ(files_.close(file), "ok");
  Order order{Disposition::kOpen, Kind::kFile, "R"};
  order.shown = shown;
  Opened then = files_.open("file", order);
  EXPECT_EQ(files_.read(then), "then");
  EXPECT_EQ(files_.write(then, 0, "x"), text_of(Error(Reason::kShownOnly)));
  EXPECT_EQ(files_.close(then), "ok");
  order.access = "RW";
  then = files_.open("file", order);
  EXPECT_EQ(files_.write(then, 0, "x"), text_of(Error(Reason::kShownOnly)));
  EXPECT_EQ(files_.close(then), "ok");
  order.disposition = Disposition::kOverwrite;
  EXPECT_EQ(files_.says("file", order), text_of(Error(Reason::kShownOnly)));
  order.disposition = Disposition::kCreate;
  EXPECT_EQ(files_.says("new", order), text_of(Error(Reason::kShownOnly)));
  EXPECT_EQ(files_.stored("file"), "now!");
}

// Reads take a while, as those from a disk do.
class SlowStore final : public store::MemoryStore {
 public:
  Task<store::Result<store::RecordPtr>> get(const store::Key& key) override {
    co_await Executor::yield();
    co_return co_await store::MemoryStore::get(key);
  }
};

// Each of several requests finds out by itself where the file is now.
TEST(Opened, IsFoundByAllWhoLookForItAtOnce) {
  SlowStore store;
  HandleTree files(store);
  Opened mover = files.open("file");
  Opened reader = files.open("file");
  ASSERT_EQ(files.write(mover, 0, "abc"), "ok");
  ASSERT_EQ(files.rename(mover, "moved"), "ok");
  const auto read_twice = [&]() -> Task<std::string> {
    Started first(files.read_task(reader, 0, 3));
    Started second(files.read_task(reader, 0, 3));
    std::string both = co_await first.join();
    co_return both + " " + co_await second.join();
  };
  EXPECT_EQ(RunLoop::run(read_twice()), "abc abc");
  EXPECT_EQ(files.close(mover), "ok");
  EXPECT_EQ(files.close(reader), "ok");
}

TEST_F(Opens, WhatIsOpenOfASnapshotEndsWithIt) {
  Opened file = files_.open("file");
  ASSERT_EQ(files_.close(file), "ok");
  Order order{Disposition::kOpen, Kind::kFile, "R"};
  order.shown = files_.change_state([](ShareState& state) { return state.take_snapshot(); });
  Opened then = files_.open("file", order);
  files_.open_files.force_close_snapshot(then.tree.space, *order.shown + 1);
  EXPECT_EQ(files_.read(then), "");
  files_.open_files.force_close_snapshot(then.tree.space, *order.shown);
  EXPECT_EQ(files_.read(then), "! " + refusal(Refusal::kNoSuchHandle));
  EXPECT_TRUE(then.ended());
}

}  // namespace
}  // namespace kyanite::tree
