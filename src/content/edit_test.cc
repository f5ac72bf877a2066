// Changes of sparse content that are too much for one commit.
#include <gtest/gtest.h>

#include <algorithm>

#include "content/graves.h"
#include "content/test_support.h"

namespace kyanite::content {
namespace {

constexpr uint64_t kLeaves = kMaxLeavesInPlace + 1500;

class CountingStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    largest = std::max(largest, commit.writes.size());
    if (commits++ == fails_at) co_return store::Error::kIo;
    co_return co_await MemoryStore::commit(std::move(commit));
  }
  size_t largest = 0;
  int commits = 0;
  int fails_at = -1;
};

class LargeEdits : public testing::Test {
 protected:
  static std::string bytes_of(uint64_t leaf) { return std::to_string(100'000 + leaf); }

  // Something in each leaf, six bytes from where it begins.
  static Edit everything() {
    Edit all{0, kLeaves * kGridBytes, {}};
    for (uint64_t i = 0; i < kLeaves; ++i)
      all.pieces.push_back(inline_piece(i * kGridBytes, bytes_of(i)));
    return all;
  }
  // Changes the content and saves it, without what it was before.
  store::Result<void> change(const std::vector<Edit>& edits, bool in_time = true) {
    store::Commit commit;
    Content next = content_;
    const Deadline deadline(clock_, in_time ? 30 : 0);
    auto done = RunLoop::run(edit(store_, commit, kPlace, next, edits, deadline));
    if (!done) return done;
    if (next.id != content_.id && content_.id != 0) {
      done = RunLoop::run(remove(store_, commit, kPlace, content_));
      if (!done) return done;
    }
    auto head = store::record_of("version " + std::to_string(++versions_));
    commit.guards.push_back(head_);
    commit.put(kHeadKey, head);
    done = RunLoop::run(store_.commit(std::move(commit)));
    if (!done) return done;
    head_.expected = head;
    content_ = next;
    return done;
  }
  void fill() {
    ASSERT_TRUE(change({everything()}).ok());
    EXPECT_EQ(count_leaves(store_), kLeaves);
    store_.commits = 0;
  }
  void clear_graves() {
    jobs::Step step(store_, clock_, "account", {.changes = UINT64_MAX});
    std::string key;
    EXPECT_TRUE(RunLoop::run(content::clear_graves(step, kPlace.space, key)).ok());
  }
  std::string read(uint64_t leaf, uint64_t offset = 0, uint64_t count = 6) {
    const uint64_t from = leaf * kGridBytes + offset;
    auto reader = RunLoop::run(Reader::open(store_, kPlace, content_, from, count, head_));
    EXPECT_TRUE(reader.ok());
    return *drain(**reader);
  }

  CountingStore store_;
  ManualClock clock_{Time::from_unix_seconds(1'700'000'000)};
  Content content_{.length = kLeaves * kGridBytes, .sparse = true};
  store::Guard head_{kHeadKey, nullptr};
  int versions_ = 0;
};

TEST_F(LargeEdits, AreStoredInPortions) {
  fill();
  EXPECT_LE(store_.largest, kMaxLeavesPerCommit + 5) << "written";
  const uint64_t before = content_.id;
  const uint64_t last = kLeaves - 5;
  // From within a leaf to within one, and something is written between and behind.
  const std::vector<Edit> edits = {
      {10 * kGridBytes + 3, last * kGridBytes + 3, {}},
      {70 * kGridBytes, 70 * kGridBytes + 6, {inline_piece(70 * kGridBytes, "within")}},
      {last * kGridBytes + 4, last * kGridBytes + 5, {inline_piece(last * kGridBytes + 4, "x")}}};
  ASSERT_TRUE(change(edits).ok());
  EXPECT_LE(store_.largest, kMaxLeavesPerCommit + 5) << "cleared";
  EXPECT_NE(content_.id, before);
  clear_graves();
  EXPECT_EQ(count_leaves(store_), 10u + 1 + 1 + 5) << "what is cleared is gone";
  clock_.advance_seconds(1'000'000);
  clear_graves();
  EXPECT_EQ(count_leaves(store_), 10u + 1 + 1 + 5) << "what is left stays";
  const std::string zeros(6, '\0');
  EXPECT_EQ(read(0), bytes_of(0));
  EXPECT_EQ(read(9), bytes_of(9));
  EXPECT_EQ(read(10), bytes_of(10).substr(0, 3) + zeros.substr(3));
  EXPECT_EQ(read(11), zeros);
  EXPECT_EQ(read(70), "within");
  EXPECT_EQ(read(last - 1), zeros);
  std::string edge = bytes_of(last).replace(0, 3, zeros, 0, 3);
  edge[4] = 'x';
  EXPECT_EQ(read(last), edge);
  EXPECT_EQ(read(kLeaves - 1), bytes_of(kLeaves - 1));
}

TEST_F(LargeEdits, OfEveryLeafKeepWhatTheyDoNotTouch) {
  fill();
  // The first leaf keeps what lies before, the others begin anew.
  Edit all{6, kLeaves * kGridBytes, {}};
  for (uint64_t i = 0; i < kLeaves; ++i)
    all.pieces.push_back(inline_piece(i * kGridBytes + 6, "!"));
  ASSERT_TRUE(change({all}).ok());
  EXPECT_LE(store_.largest, kMaxLeavesPerCommit + 5);
  EXPECT_EQ(read(0, 0, 7), bytes_of(0) + "!");
  EXPECT_EQ(read(1, 0, 7), std::string(6, '\0') + "!");
  EXPECT_EQ(read(kLeaves - 1, 6, 1), "!");
  clear_graves();
  EXPECT_EQ(count_leaves(store_), kLeaves);
}

TEST_F(LargeEdits, ThatFailLeaveEverythingAsItWas) {
  fill();
  const Content before = content_;
  Edit all = everything();
  for (Piece& piece : all.pieces) piece.inline_bytes = "other!";
  EXPECT_EQ(change({all}, false).error(), store::Error::kTimeout);
  store_.fails_at = store_.commits + 3;
  EXPECT_EQ(change({all}).error(), store::Error::kIo);
  EXPECT_EQ(content_, before);
  EXPECT_EQ(read(0), bytes_of(0));
  EXPECT_GT(count_leaves(store_), kLeaves);
  clear_graves();
  EXPECT_EQ(count_leaves(store_), kLeaves) << "who tries again and again leaves nothing behind";
  EXPECT_EQ(read(kLeaves - 1), bytes_of(kLeaves - 1));
}

}  // namespace
}  // namespace kyanite::content
