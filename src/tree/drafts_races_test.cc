// Races of those who write through handles with those who store that, and with those who open,
// rename and remove files.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "store/interleaving.h"
#include "tree/drafts.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

Task<void> appends(HandleTree& files, Opened& file, int from, int count) {
  for (int i = from; i < from + count; ++i) {
    const auto digit = static_cast<char>('a' + i);
    EXPECT_EQ(co_await files.write_task(file, static_cast<uint64_t>(i), std::string(1, digit)),
              "ok");
    co_await Executor::yield();
  }
}
Task<void> flushes(HandleTree& files, Opened& file, int count) {
  for (int i = 0; i < count; ++i) EXPECT_EQ(co_await files.flush_task(file), "ok");
}
Task<void> renames(HandleTree& files, Opened& file, int count) {
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(co_await files.rename_task(file, i % 2 == 0 ? "there" : "file"), "ok");
}
Task<void> reads(HandleTree& files, Opened& file, int count) {
  std::string before;
  for (int i = 0; i < count; ++i) {
    const std::string now = co_await files.read_task(file, 0, 100);
    // What was seen once is never gone again.
    EXPECT_EQ(now.substr(0, before.size()), before);
    before = now;
  }
}
Task<void> notes(HandleTree& files, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string done = co_await files.note(i % 2 == 0 ? "file" : "there", "x");
    EXPECT_TRUE(done == "ok" || done == "not found") << done;
  }
}

TEST(WritesInARace, LeaveWhatWasWrittenUpToSomeInstant) {
  constexpr int kCount = 12;
  std::string all;
  for (int i = 0; i < kCount; ++i) all += static_cast<char>('a' + i);
  std::set<size_t> lengths;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    store::InterleavedStore store;
    HandleTree files(store);
    Opened writer = files.open("file");
    Opened mover = files.open("file");
    Opened reader = files.open("file");
    std::vector<Task<void>> tasks;
    tasks.push_back(appends(files, writer, 0, kCount));
    tasks.push_back(flushes(files, writer, 4));
    tasks.push_back(renames(files, mover, 4));
    tasks.push_back(reads(files, reader, 6));
    tasks.push_back(notes(files, 3));
    // Whenever it ends, what is stored is a beginning of what was written.
    const auto look = [&] {
      const store::Look see = [&](const store::View& view) -> store::Result<void> {
        auto cursor = view.scan(store::Range::family(files.tree.space, kEntries));
        for (; cursor->valid(); cursor->next()) {
          auto value = cursor->value();
          const auto entry = store::decode<Entry>(*value);
          lengths.insert(entry->content.length);
        }
        return {};
      };
      EXPECT_TRUE(store.look_now(see).ok());
    };
    store::Interleaving(seed).run(std::move(tasks), look);
    EXPECT_EQ(files.read(writer), all) << seed;
    EXPECT_EQ(files.close(writer), "ok");
    EXPECT_EQ(files.close(mover), "ok");
    EXPECT_EQ(files.close(reader), "ok");
    EXPECT_EQ(files.stored("file"), all) << seed;
    EXPECT_TRUE(files.is_idle()) << seed;
  }
  EXPECT_GT(lengths.size(), 5u);
}

// A name that becomes another file's while somebody without a handle waits for the one it had.
TEST(WritesInARace, AreStoredBeforeAnybodyWithoutAHandleLooksAtTheFileTheyAreIn) {
  std::set<uint64_t> lengths;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    store::InterleavedStore store;
    HandleTree files(store);
    Opened replaced = files.open("a");
    Opened moved = files.open("b");
    EXPECT_EQ(files.write(replaced, 0, "aaa"), "ok");
    EXPECT_EQ(files.write(moved, 0, "bbbbb"), "ok");
    auto look = [&]() -> Task<void> {
      store::Occasion occasion(store, files.lines, files.clock);
      const Rules rules{Kind::kFile, FileOperation::kGetFile, {}, false};
      const Path path{"a"};
      auto located = co_await read_entry(occasion, files.tree, path, rules);
      if (located) lengths.insert(located->found.entry->content.length);
    };
    auto move = [&]() -> Task<void> {
      store::Occasion occasion(store, files.lines, files.clock);
      auto closed = co_await tree::close(occasion, replaced, false);
      EXPECT_TRUE(closed.ok());
      EXPECT_EQ(co_await files.rename_task(moved, "a", true), "ok");
    };
    std::vector<Task<void>> tasks;
    tasks.push_back(look());
    tasks.push_back(move());
    store::Interleaving(seed).run(std::move(tasks), [] {});
    EXPECT_EQ(files.close(moved), "ok");
    EXPECT_EQ(files.stored("a"), "bbbbb");
  }
  EXPECT_EQ(lengths, (std::set<uint64_t>{3, 5}));
}

// Closes the last handle of what is to be deleted, and removes it some turns later.
Task<void> removes(store::Store& store, HandleTree& files, Opened& file, bool& closed,
                   uint64_t turns) {
  store::Occasion occasion(store, files.lines, files.clock);
  const auto done = files.open_files.close(file.handle);
  closed = true;
  for (uint64_t i = 0; i < turns; ++i) co_await Executor::yield();
  EXPECT_EQ(outcome(co_await remove_closed(occasion, file, done->handle)), "ok");
}

// Between the last close of a file and its end others find it or not: nobody has it open.
TEST(WritesInARace, WhoComesWhileAFileIsRemovedComesAfterThat) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    for (const Disposition disposition :
         {Disposition::kOpenIf, Disposition::kOverwriteIf, Disposition::kCreate}) {
      store::InterleavedStore store;
      HandleTree files(store);
      Opened gone = files.open("file", {Disposition::kCreate, Kind::kFile, "RWD", "RWD", true});
      std::optional<Opened> opened;
      std::string said;
      bool closed = false;
      std::vector<Task<void>> tasks;
      auto open = [&]() -> Task<void> {
        while (!closed) co_await Executor::yield();
        said =
            co_await files.open_in_words("file", {disposition, Kind::kFile, "RW", "RWD"}, opened);
      };
      tasks.push_back(removes(store, files, gone, closed, 0));
      tasks.push_back(open());
      store::Interleaving(seed).run(std::move(tasks), [] {});
      EXPECT_EQ(said, "created") << seed;
      if (opened) {
        EXPECT_EQ(files.close(*opened), "ok");
      }
      EXPECT_TRUE(files.is_idle()) << seed;
    }
  }
}

TEST(WritesInARace, WhoReplacesAFileThatIsRemovedComesAfterThat) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    store::InterleavedStore store;
    HandleTree files(store);
    Opened gone = files.open("file", {Disposition::kCreate, Kind::kFile, "RWD", "RWD", true});
    Opened moves = files.open("new", {Disposition::kCreate, Kind::kFile, "RWD", "RWD"});
    bool closed = false;
    std::vector<Task<void>> tasks;
    auto replace = [&]() -> Task<void> {
      while (!closed) co_await Executor::yield();
      EXPECT_EQ(co_await files.rename_task(moves, "file", true), "ok") << seed;
    };
    tasks.push_back(removes(store, files, gone, closed, seed % 20));
    tasks.push_back(replace());
    store::Interleaving(seed).run(std::move(tasks), [] {});
    EXPECT_EQ(files.close(moves), "ok");
    EXPECT_TRUE(files.is_idle()) << seed;
  }
}

TEST(WritesInARace, TwoWhoOpenAndMakeTheSameFileGetOne) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    store::InterleavedStore store;
    HandleTree files(store);
    std::optional<Opened> opened[3];
    std::string said[3];
    std::vector<Task<void>> tasks;
    auto run = [&](int i, HandleTree::Order order) -> Task<void> {
      said[i] = co_await files.open_in_words("file", order, opened[i]);
    };
    tasks.push_back(run(0, {Disposition::kOpenIf, Kind::kFile, "RW", ""}));
    tasks.push_back(run(1, {Disposition::kOpenIf, Kind::kFile, "RW", ""}));
    tasks.push_back(run(2, {Disposition::kCreate, Kind::kFile, "RW", ""}));
    store::Interleaving(seed).run(std::move(tasks), [] {});
    const int created = static_cast<int>(std::count(said, said + 3, "created"));
    EXPECT_EQ(created, 1) << said[0] << " " << said[1] << " " << said[2];
    for (auto& each : opened) {
      if (each) {
        EXPECT_EQ(files.close(*each), "ok");
      }
    }
    EXPECT_TRUE(files.is_idle()) << seed;
  }
}

}  // namespace
}  // namespace kyanite::tree
