// Files that become longer or shorter while others write to them.
#include <gtest/gtest.h>

#include <set>

#include "store/interleaving.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

Task<void> set_length_of(store::Store& store, HandleTree& files, Opened& file, uint64_t length) {
  store::Occasion occasion(store, files.lines, files.clock);
  EXPECT_EQ(outcome(co_await set_length(occasion, file, length)), "ok");
}
Task<void> writes(HandleTree& files, Opened& file, uint64_t offset, bool flushed) {
  co_await Executor::yield();
  EXPECT_EQ(co_await files.write_task(file, offset, "behind"), "ok");
  if (flushed) {
    EXPECT_EQ(co_await files.flush_task(file), "ok");
  }
}

// What others append meanwhile is before it or after it, as a whole.
TEST(Lengths, AreSetBeforeOrAfterWhatIsAppended) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (const uint64_t length : {50u, 100u}) {
      store::InterleavedStore store;
      HandleTree files(store);
      Opened holder = files.open("file");
      Opened other = files.open("file");
      EXPECT_EQ(files.write(other, 0, std::string(50, 'x')), "ok");
      std::vector<Task<void>> tasks;
      tasks.push_back(set_length_of(store, files, other, length));
      tasks.push_back(writes(files, holder, 200, seed % 2 == 1));
      store::Interleaving(seed).run(std::move(tasks), [] {});
      const std::string behind = files.read(holder, 200);
      seen.insert(behind);
      EXPECT_EQ(files.state(holder).content.length, behind.empty() ? length : 206) << seed;
      EXPECT_EQ(files.close(other), "ok");
      EXPECT_EQ(files.close(holder), "ok");
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"", "behind"}));
}

// As on Windows: only who reads or writes bytes is kept out.
TEST(Lengths, AreSetWhateverIsLocked) {
  store::MemoryStore store;
  HandleTree files(store);
  Opened holder = files.open("file");
  Opened other = files.open("file");
  EXPECT_EQ(files.write(other, 0, "0123456789"), "ok");
  ASSERT_TRUE(RunLoop::run(files.open_files.lock(holder.handle, {{{0, 100}, true}})).ok());
  EXPECT_EQ(files.write(other, 0, "x"), text_of(Error(Refusal::kLockConflict)));
  EXPECT_EQ(files.resize(other, 5), "ok");
  EXPECT_EQ(files.resize(other, 7), "ok");
  EXPECT_EQ(files.clear(other, 0, 3), text_of(Error(Refusal::kLockConflict)));
  EXPECT_EQ(files.close(holder), "ok");
  EXPECT_EQ(files.close(other), "ok");
  EXPECT_EQ(files.stored("file"), std::string("01234\0\0", 7));
}

TEST(Lengths, ThatChangeNothingLeaveNothing) {
  store::MemoryStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  file.frozen.written = file.frozen.changed = true;
  EXPECT_EQ(files.resize(file, 0), "ok");
  EXPECT_EQ(files.close(file), "ok");
  EXPECT_FALSE(files.open_files.drafts().has(file.file));
  EXPECT_TRUE(files.is_idle());
}

TEST(Lengths, ThatAreAsTheyWereLeaveTheTimes) {
  store::MemoryStore store;
  HandleTree files(store);
  Opened file = files.open("file");
  EXPECT_EQ(files.write(file, 0, "12345"), "ok");
  EXPECT_EQ(files.close(file), "ok");
  file = files.open("file");
  const Time before = files.state(file).smb.written;
  files.clock.advance_seconds(5);
  EXPECT_EQ(files.resize(file, 5), "ok");
  EXPECT_EQ(files.state(file).smb.written, before);
  EXPECT_EQ(files.write(file, 0, "6"), "ok");
  files.clock.advance_seconds(5);
  EXPECT_EQ(files.resize(file, 5), "ok");
  EXPECT_EQ(files.state(file).smb.written, files.clock.now()) << "what was written is told";
  EXPECT_EQ(files.close(file), "ok");
}

}  // namespace
}  // namespace kyanite::tree
