// What was done to files of more leaves than one commit takes is stored all the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "content/graves.h"
#include "tree/drafts.h"
#include "tree/handles_test_support.h"

namespace kyanite::tree {
namespace {

constexpr uint64_t kGrid = content::kGridBytes;

// A store of small commits.
class SmallStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    if (commit.writes.size() > most) co_return store::Error::kTooLarge;
    co_return co_await MemoryStore::commit(std::move(commit));
  }
  size_t most = SIZE_MAX;
};

class LargeFiles : public testing::Test {
 protected:
  // A file with something at the beginning of each leaf.
  Opened make_file(uint64_t leaves) {
    Opened file = files_.open("file");
    for (uint64_t i = 0; i < leaves; ++i) {
      if (files_.write(file, i * kGrid, "data") != "ok") ADD_FAILURE() << i;
    }
    EXPECT_EQ(files_.flush(file), "ok");
    return file;
  }
  size_t count_leaves() {
    size_t count = 0;
    for (const auto& entry : store_.everything())
      count += entry.key.family() == content::kContentFamily ? 1 : 0;
    return count;
  }
  void clear_graves() {
    jobs::Step step(store_, files_.clock, "account", {.changes = UINT64_MAX});
    std::string key;
    EXPECT_TRUE(RunLoop::run(content::clear_graves(step, files_.tree.space, key)).ok());
  }

  SmallStore store_;
  HandleTree files_{store_};
};

TEST_F(LargeFiles, AreCleared) {
  constexpr uint64_t kLeaves = content::kMaxLeavesInPlace + 2000;
  Opened file = make_file(kLeaves);
  store_.most = content::kMaxLeavesPerCommit + 10;
  EXPECT_EQ(files_.clear(file, 100 * kGrid, (kLeaves - 100) * kGrid), "ok");
  EXPECT_EQ(files_.flush(file), "ok");
  EXPECT_FALSE(files_.open_files.drafts().has(file.file));
  EXPECT_EQ(files_.read(file, 99 * kGrid, 4), "data");
  EXPECT_EQ(files_.read(file, 100 * kGrid, 4), std::string(4, '\0'));
  EXPECT_EQ(files_.read(file, (kLeaves - 1) * kGrid, 10), "data") << "up to its end";
  clear_graves();
  EXPECT_EQ(count_leaves(), 200u);
  EXPECT_EQ(files_.close(file), "ok");
}

TEST_F(LargeFiles, AreCut) {
  Opened file = make_file(content::kMaxLeavesInPlace + 2000);
  store_.most = content::kMaxLeavesPerCommit + 10;
  EXPECT_EQ(files_.resize(file, 10 * kGrid + 2), "ok");
  EXPECT_EQ(files_.write(file, 20 * kGrid, "more"), "ok");
  EXPECT_EQ(files_.close(file), "ok");
  Opened again = files_.open("file");
  EXPECT_EQ(files_.read(again, 9 * kGrid, 4), "data");
  EXPECT_EQ(files_.read(again, 10 * kGrid, 4), std::string("da\0\0", 4));
  EXPECT_EQ(files_.read(again, 20 * kGrid, 10), "more");
  clear_graves();
  EXPECT_EQ(count_leaves(), 12u);
  EXPECT_EQ(files_.close(again), "ok");
}

TEST_F(LargeFiles, AreKeptForTheirSnapshots) {
  constexpr uint64_t kLeaves = 2 * content::kMaxLeavesPerCommit + 10;
  Opened file = make_file(kLeaves);
  const auto shown = files_.change_state([](ShareState& state) { return state.take_snapshot(); });
  store_.most = content::kMaxLeavesPerCommit + 10;
  EXPECT_EQ(files_.write(file, 0, "more"), "ok");
  EXPECT_EQ(files_.flush(file), "ok");
  EXPECT_EQ(count_leaves(), 2 * kLeaves);
  EXPECT_EQ(files_.read(file, 0, 4), "more");
  Opened former =
      files_.open("file", {Disposition::kOpen, Kind::kFile, "R", "RWD", false, 0, shown});
  EXPECT_EQ(files_.read(former, 0, 4), "data");
  EXPECT_EQ(files_.close(former), "ok");
  EXPECT_EQ(files_.close(file), "ok");
}

}  // namespace
}  // namespace kyanite::tree
