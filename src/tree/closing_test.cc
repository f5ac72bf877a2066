// What closing leaves behind: marks for deletion, of directories as well, and watches.
#include <gtest/gtest.h>

#include <set>

#include "base/started.h"
#include "store/interleaving.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

using Order = HandleTree::Order;

const Order kMakeDirectory{Disposition::kCreate, Kind::kDirectory};
const Order kDeleteDirectory{Disposition::kOpen, Kind::kDirectory, "D", "RWD", true};

std::string refusal(Refusal why) { return text_of(Error(why)); }

class Closing : public testing::Test {
 protected:
  using Seen = kyanite::Result<Watchers::Seen, Watchers::Ending>;
  Started<Seen> watch(const Opened& directory) {
    auto watching = files_.open_files.watch(directory.handle, false, 0xFFF);
    EXPECT_TRUE(watching.ok() && *watching);
    return Started(files_.open_files.watchers().next(**watching, 1));
  }
  static std::optional<Watchers::Ending> ending(Started<Seen>& seen) {
    if (!seen.is_done()) return std::nullopt;
    const auto told = RunLoop::run(seen.join());
    return told ? std::nullopt : std::optional(told.error());
  }

  store::MemoryStore store_;
  HandleTree files_{store_};
};

TEST_F(Closing, WhoWatchesAFullDirectoryGoesOn) {
  Opened directory = files_.open("d", kMakeDirectory);
  Opened other = files_.open("d", {Disposition::kOpen, Kind::kDirectory});
  ASSERT_EQ(files_.says("d/inside", {}), "created");
  auto seen = watch(other);
  EXPECT_EQ(files_.mark(directory), "not empty");
  Opened deleting = files_.open("d", kDeleteDirectory);
  EXPECT_EQ(files_.close(deleting), "ok");
  EXPECT_FALSE(seen.is_done());
  EXPECT_FALSE(files_.open_files.is_delete_pending(directory.file));
  EXPECT_EQ(files_.says("d/more", {}), "created");
  EXPECT_EQ(RunLoop::run(seen.join())->changes.size(), 1u);
}

TEST_F(Closing, WhoWatchesAnEmptyDirectoryIsTold) {
  for (const bool by_close : {false, true}) {
    Opened directory = files_.open("d", kMakeDirectory);
    Opened other = files_.open("d", {Disposition::kOpen, Kind::kDirectory});
    auto seen = watch(other);
    if (by_close) {
      Opened deleting = files_.open("d", kDeleteDirectory);
      EXPECT_EQ(files_.close(deleting), "ok");
    } else {
      EXPECT_EQ(files_.mark(directory), "ok");
    }
    EXPECT_EQ(ending(seen), Watchers::Ending::kDeletePending) << by_close;
    EXPECT_EQ(files_.says("d/inside", {}), refusal(Refusal::kDeletePending));
    EXPECT_EQ(files_.close(directory), "ok");
    EXPECT_EQ(files_.close(other), "ok");
    EXPECT_EQ(files_.names(""), "");
  }
}

TEST_F(Closing, WithoutDeleteAccessNothingIsToldOfADirectory) {
  Opened directory = files_.open("d", {Disposition::kCreate, Kind::kDirectory, "R"});
  ASSERT_EQ(files_.says("d/inside", {}), "created");
  EXPECT_EQ(files_.mark(directory), refusal(Refusal::kAccessDenied));
  EXPECT_EQ(files_.close(directory), "ok");
}

TEST_F(Closing, EndsWhatTheHandleWatches) {
  const std::pair<const char*, std::function<void(OpenFiles&, const Opened&)>> ends[] = {
      {"one handle by force",
       [](OpenFiles& table, const Opened& each) {
         EXPECT_TRUE(table.force_close(each.file, false, each.handle));
       }},
      {"all by force",
       [](OpenFiles& table, const Opened& each) { table.force_close_all(each.file, false); }},
      {"the share is deleted",
       [](OpenFiles& table, const Opened& each) { table.force_close_share(each.file.share); }},
      {"a close",
       [](OpenFiles& table, const Opened& each) { EXPECT_TRUE(table.close(each.handle).ok()); }},
  };
  ASSERT_EQ(files_.says("d", kMakeDirectory), "created");
  for (const auto& [why, end] : ends) {
    Opened directory = files_.open("d", {Disposition::kOpen, Kind::kDirectory});
    auto seen = watch(directory);
    EXPECT_FALSE(seen.is_done());
    end(files_.open_files, directory);
    EXPECT_EQ(ending(seen), Watchers::Ending::kClosed) << why;
    EXPECT_FALSE(files_.open_files.watchers().any()) << why;
    EXPECT_EQ(files_.open_files.watch(directory.handle, false, 1).error(), Refusal::kNoSuchHandle);
  }
}

// Whatever comes between: what is created is in a directory that stays.
TEST(ClosingInARace, NothingIsPutIntoADirectoryThatGoes) {
  for (const bool by_close : {false, true}) {
    std::set<std::string> seen;
    for (uint64_t seed = 0; seed < 300; ++seed) {
      store::InterleavedStore store;
      HandleTree files(store);
      Opened keeping = files.open("d", kMakeDirectory);
      Opened other = files.open("other");
      Opened deleting = by_close ? files.open("d", kDeleteDirectory)
                                 : files.open("d", {Disposition::kOpen, Kind::kDirectory});
      std::string marked, created, moved;
      std::optional<Opened> inside;
      auto mark = [&]() -> Task<void> {
        store::Occasion occasion(store, files.lines, files.clock);
        if (by_close) {
          marked = outcome(co_await tree::close(occasion, deleting, false));
        } else {
          marked = outcome(co_await set_delete_pending(occasion, deleting, true, false));
        }
      };
      auto create = [&]() -> Task<void> {
        created = co_await files.open_in_words("d/inside", {}, inside);
      };
      auto move = [&]() -> Task<void> { moved = co_await files.rename_task(other, "d/moved"); };
      std::vector<Task<void>> tasks;
      tasks.push_back(mark());
      tasks.push_back(create());
      if (seed % 2 == 0) tasks.push_back(move());
      store::Interleaving(seed).run(std::move(tasks), [] {});
      const bool pending = files.open_files.is_delete_pending(keeping.file);
      if (!by_close) {
        EXPECT_EQ(pending, marked == "ok") << marked;
      }
      EXPECT_EQ(created, pending ? refusal(Refusal::kDeletePending) : "created");
      EXPECT_FALSE(pending && moved == "ok");
      if (inside) {
        EXPECT_EQ(files.close(*inside), "ok");
      }
      EXPECT_EQ(files.close(keeping), "ok");
      if (!by_close) {
        EXPECT_EQ(files.close(deleting), "ok");
      }
      EXPECT_EQ(outcome(files.find("d")), pending ? "not found" : "ok");
      seen.insert(created);
      EXPECT_EQ(files.close(other), "ok");
    }
    EXPECT_EQ(seen.size(), 2u) << by_close;
  }
}

// --- Opens that are withdrawn ---

TEST_F(Closing, AWithdrawnOpenLeavesTheMarksOfOthers) {
  for (const bool marked : {false, true}) {
    Opened file = files_.open("file");
    Opened never = files_.open("file", {Disposition::kOpen, Kind::kFile, "D", "RWD", true});
    if (marked) {
      EXPECT_EQ(files_.mark(file), "ok");
    }
    EXPECT_EQ(files_.close(file), "ok");
    store::Occasion occasion(store_, files_.lines, files_.clock);
    RunLoop::run(withdraw(occasion, files_.tree, never.handle));
    EXPECT_EQ(outcome(files_.find("file")), marked ? "not found" : "ok");
    EXPECT_TRUE(files_.is_idle());
  }
}

TEST_F(Closing, WhatIsTakenFromAClientIsClosedAsByIt) {
  Opened file = files_.open("file", {Disposition::kCreate, Kind::kFile, "D", "RWD", true});
  Opened directory = files_.open("d", {Disposition::kCreate, Kind::kDirectory, "D", "RWD", true});
  ASSERT_EQ(files_.says("d/inside", {}), "created");
  store::Occasion occasion(store_, files_.lines, files_.clock);
  for (const Opened* each : {&file, &directory}) {
    const auto handle = files_.open_files.find(each->handle);
    ASSERT_TRUE(handle);
    RunLoop::run(close_for_another(occasion, files_.tree, *handle));
    EXPECT_FALSE(files_.open_files.find(each->handle));
  }
  EXPECT_EQ(files_.names(""), "d ");
  EXPECT_TRUE(files_.open_files.delete_pending(files_.tree.space).empty());
}

// Does something in the middle of somebody's request.
class InterruptedStore final : public store::MemoryStore {
 public:
  Task<store::Result<store::RecordPtr>> get(const store::Key& key) override {
    if (const auto interrupt = std::exchange(before_next_get, nullptr)) interrupt();
    co_return co_await MemoryStore::get(key);
  }
  std::function<void()> before_next_get;
};

// The last handle of a file that was marked may be one that its client never gets.
TEST(ClosingInBetween, AnOpenThatIsRefusedAtLastKeepsNoFile) {
  InterruptedStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  const auto mark_and_close = [&] {
    EXPECT_EQ(files.mark(file), "ok");
    const OpenedEdit edit = [](Entry& entry, store::Commit&) -> Task<Result<void>> {
      entry.smb.attributes |= kReadOnlyAttribute;
      co_return Result<void>();
    };
    store::Occasion occasion(store, files.lines, files.clock);
    EXPECT_TRUE(RunLoop::run(change_opened(occasion, file, edit)).ok());
    EXPECT_EQ(files.close(file), "ok");
    EXPECT_EQ(outcome(files.find("file")), "ok") << "somebody else has it open";
  };
  Opening opening;
  opening.path = files.parse("file");
  opening.share = kFullAccess;
  opening.delete_on_close = true;
  // Right before its second look, when its handle is there.
  opening.grant = [&](const Entry*, const Entry&) -> Task<Result<AccessSet>> {
    store.before_next_get = mark_and_close;
    co_return kDeleteAccess;
  };
  store::Occasion occasion(store, files.lines, files.clock);
  const auto opened = RunLoop::run(tree::open(occasion, files.tree, opening));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(text_of(opened.error()), "read-only");
  EXPECT_EQ(outcome(files.find("file")), "not found");
  EXPECT_TRUE(files.is_idle());
}

}  // namespace
}  // namespace kyanite::tree
