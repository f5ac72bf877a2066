// Files that become longer or shorter while others write to them.
#include <gtest/gtest.h>

#include "store/interleaving.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

Task<void> set_length_of(store::Store& store, HandleTree& files, Opened& file, uint64_t length) {
  store::Occasion occasion(store, files.lines, files.clock);
  const std::string said = outcome(co_await set_length(occasion, file, length));
  EXPECT_TRUE(said == "ok" || said == text_of(Error(Refusal::kLockConflict))) << said;
}
Task<void> writes(HandleTree& files, Opened& file, uint64_t offset, bool flushed) {
  co_await Executor::yield();
  EXPECT_EQ(co_await files.write_task(file, offset, "locked"), "ok");
  if (flushed) {
    EXPECT_EQ(co_await files.flush_task(file), "ok");
  }
}

// It is there once it is written, whatever the other has seen of the length before.
TEST(Lengths, LeaveWhatIsAppendedUnderALock) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (const uint64_t length : {20u, 50u, 100u}) {
      store::InterleavedStore store;
      HandleTree files(store);
      Opened holder = files.open("file");
      Opened other = files.open("file");
      EXPECT_EQ(files.write(other, 0, std::string(50, 'x')), "ok");
      ASSERT_TRUE(RunLoop::run(files.open_files.lock(holder.handle, {{{200, 6}, true}})).ok());
      std::vector<Task<void>> tasks;
      tasks.push_back(set_length_of(store, files, other, length));
      tasks.push_back(writes(files, holder, 200, seed % 2 == 1));
      store::Interleaving(seed).run(std::move(tasks), [] {});
      EXPECT_EQ(files.read(holder, 200), "locked") << length << " seed " << seed;
      EXPECT_EQ(files.close(other), "ok");
      EXPECT_EQ(files.close(holder), "ok");
    }
  }
}

TEST(Lengths, MayBeCutBeforeWhatIsLockedFarBehindTheEnd) {
  store::MemoryStore store;
  HandleTree files(store);
  Opened holder = files.open("file");
  Opened other = files.open("file");
  EXPECT_EQ(files.write(other, 0, "0123456789"), "ok");
  ASSERT_TRUE(RunLoop::run(files.open_files.lock(holder.handle, {{{1u << 30, 1}, false}})).ok());
  EXPECT_EQ(files.resize(other, 5), "ok");
  EXPECT_EQ(files.close(other), "ok");
  EXPECT_EQ(files.stored("file"), "01234");
  EXPECT_EQ(files.close(holder), "ok");
}

// Storing what was written makes it look as if somebody had made the file longer.
TEST(Lengths, MayBeCutWhereMuchWaitsToBeStored) {
  store::MemoryStore store;
  HandleTree files(store);
  Opened holder = files.open("file");
  Opened other = files.open("file");
  for (size_t i = 0; i <= Drafts::kMaxParts; ++i) EXPECT_EQ(files.write(other, 2 * i, "x"), "ok");
  ASSERT_TRUE(RunLoop::run(files.open_files.lock(holder.handle, {{{1u << 30, 1}, false}})).ok());
  EXPECT_EQ(files.resize(other, 1), "ok");
  EXPECT_EQ(files.close(other), "ok");
  EXPECT_EQ(files.stored("file"), "x");
  EXPECT_EQ(files.close(holder), "ok");
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

}  // namespace
}  // namespace kyanite::tree
