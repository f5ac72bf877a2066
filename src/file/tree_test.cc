// Changes of a share's tree, as its store sees them.
#include <gtest/gtest.h>

#include <algorithm>

#include "content/content.h"
#include "content/graves.h"
#include "file/test_support.h"

namespace kyanite::file {
namespace {

class CountingStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    largest = std::max(largest, commit.writes.size());
    return MemoryStore::commit(std::move(commit));
  }
  size_t largest = 0;
};

// One commit keeps all others waiting.
TEST(TreeCommits, KeepALargeFileForItsSnapshotInPortions) {
  constexpr uint64_t kLeaves = 2 * content::kMaxLeavesPerCommit + 10;
  CountingStore store;
  TestService files(store);
  ASSERT_EQ(files.make_share("share").outcome(), "201");
  ASSERT_EQ(files.make_file("share/file", std::to_string(kLeaves * content::kGridBytes)).outcome(),
            "201");
  for (uint64_t i = 0; i < kLeaves; ++i)
    ASSERT_EQ(files.write("share/file", i * content::kGridBytes, "old").outcome(), "201");
  const std::string snapshot = files.snapshot("share");
  store.largest = 0;
  ASSERT_EQ(files.write("share/file", 0, "new").outcome(), "201");
  EXPECT_GE(store.largest, content::kMaxLeavesPerCommit);
  EXPECT_LE(store.largest, content::kMaxLeavesPerCommit + 10);
  EXPECT_EQ(files.read("share/file", 3).body, "new");
  EXPECT_EQ(files.read("share/file", 3, "sharesnapshot=" + snapshot).body, "old");
}

TEST(TreeCommits, ClearAndCutALargeFileInPortions) {
  constexpr uint64_t kGrid = content::kGridBytes;
  constexpr uint64_t kLeaves = content::kMaxLeavesInPlace + 10;
  CountingStore store;
  TestService files(store);
  ASSERT_EQ(files.make_share("share").outcome(), "201");
  ASSERT_EQ(files.make_file("share/file", std::to_string(kLeaves * kGrid)).outcome(), "201");
  for (uint64_t i = 0; i < kLeaves; ++i)
    ASSERT_EQ(files.write("share/file", i * kGrid, "old").outcome(), "201");
  const service::TestHost<FileService>::Headers source{
      {"x-ms-copy-source", "http://127.0.0.1:10003/account/share/file"}};
  ASSERT_EQ(files.send("PUT", "share/copy", {}, source).status, 202);
  store.largest = 0;
  // Within sectors at both ends.
  ASSERT_EQ(files.clear("share/file", 1, (kLeaves - 1) * kGrid).outcome(), "201");
  EXPECT_LE(store.largest, content::kMaxLeavesPerCommit + 10);
  EXPECT_EQ(files.read("share/file", 3).body, std::string("o\0\0", 3));
  ASSERT_EQ(
      files.send("PUT", "share/copy", "comp=properties", {{"x-ms-content-length", "2"}}).outcome(),
      "200");
  EXPECT_LE(store.largest, content::kMaxLeavesPerCommit + 10);
  EXPECT_EQ(files.read("share/copy", 2).body, "ol");
}

}  // namespace
}  // namespace kyanite::file
